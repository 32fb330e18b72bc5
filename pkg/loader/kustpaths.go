package loader

import (
	"reflect"
	"slices"
	"strconv"
)

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// walkTokens follows tokens in a value as far as they lead.
func walkTokens(v any, tokens []string) (any, int) {
	for i, token := range tokens {
		next, ok := member(v, token)
		if !ok {
			return v, i
		}
		v = next
	}
	return v, len(tokens)
}

func member(v any, token string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		x, ok := v[token]
		return x, ok
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// namesObject reports whether tokens lead to what tells an object from others.
func namesObject(tokens []string) bool {
	return slices.Equal(tokens, []string{"metadata", "name"}) || len(tokens) == 1 && (tokens[0] == "kind" || tokens[0] == "apiVersion")
}

func isCollection(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// mergeKeys are the fields by which Kubernetes tells the items of its lists
// apart (patchMergeKey), the most telling first.
var mergeKeys = []string{"name", "mountPath", "containerPort", "devicePath", "port", "ip", "topologyKey", "key", "uid", "type"}

// mapPath follows tokens through the final object and through a source of it,
// whose lists may hold the same items at other places. ok is false when the
// source does not have the field; at then leads as near as it goes, and on
// along tokens.
func mapPath(final, src any, tokens []string) (at []string, value any, ok bool) {
	for i, token := range tokens {
		next, _ := member(final, token)
		mapped := token
		if list, isList := final.([]any); isList {
			srcList, _ := src.([]any)
			j := matchItem(list, token, srcList)
			if j < 0 {
				return append(at, tokens[i:]...), nil, false
			}
			mapped = strconv.Itoa(j)
		}
		srcNext, has := member(src, mapped)
		if !has {
			return append(at, tokens[i:]...), nil, false
		}
		at = append(at, mapped)
		final, src = next, srcNext
	}
	return at, src, true
}

// matchItem finds item token of list in src, -1 when it is not there.
func matchItem(list []any, token string, src []any) int {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(list) {
		return -1
	}
	if i < len(src) && reflect.DeepEqual(list[i], src[i]) {
		return i
	}
	if asMap(list[i]) == nil && len(list) == len(src) && i < len(src) {
		// A list of plain values that was changed in place.
		return i
	}
	return slices.IndexFunc(src, func(x any) bool { return sameItem(list[i], x) })
}

// sameItem reports whether two items are one as far as patches are concerned.
func sameItem(a, b any) bool {
	ma, mb := asMap(a), asMap(b)
	if ma == nil || mb == nil {
		return reflect.DeepEqual(a, b)
	}
	for _, key := range mergeKeys {
		va, inA := ma[key]
		vb, inB := mb[key]
		if inA && inB {
			if !reflect.DeepEqual(va, vb) {
				return false
			}
			// Ports of one number differ by protocol.
			pa, hasA := ma["protocol"]
			pb, hasB := mb["protocol"]
			return !hasA || !hasB || pa == pb
		}
	}
	return reflect.DeepEqual(a, b)
}
