package loader

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// The top-level keys that app-template reads. It has no schema that forbids
// others, so that a misspelt one is silently nothing.
var (
	newerKeys = []string{
		"global", "defaultPodOptions", "defaultPodOptionsStrategy", "controllers", "serviceAccount", "configMaps", "configMapsFromFolder",
		"secrets", "secretsFromFolder", "defaultExternalSecretStoreRef", "externalSecrets", "ingress", "route", "listenerSets", "service",
		"serviceMonitor", "podMonitor", "networkpolicies", "persistence", "rbac", "rawResources",
		// the two that are read beside those of global
		"nameOverride", "fullnameOverride",
	}
	olderKeys = []string{
		"global", "controller", "image", "command", "args", "env", "envFrom", "secret", "secrets", "configmap", "configMaps", "podAnnotations",
		"podLabels", "podSecurityContext", "securityContext", "serviceAccount", "service", "ingress", "route", "persistence", "volumeClaimTemplates",
		"probes", "lifecycle", "resources", "termination", "hostNetwork", "hostname", "hostAliases", "hostPID", "hostIPC", "dnsPolicy", "dnsConfig",
		"enableServiceLinks", "automountServiceAccountToken", "priorityClassName", "schedulerName", "runtimeClassName", "nodeSelector", "affinity",
		"topologySpreadConstraints", "tolerations", "initContainers", "additionalContainers", "sidecars", "addons", "autoscaling", "metrics",
		"serviceMonitor", "networkpolicies", "rbac", "rawResources", "nameOverride", "fullnameOverride",
	}
	// movedKeys are those of olderKeys on which a VPN depends and that have another
	// place since.
	movedKeys = []string{
		"image", "command", "args", "env", "envFrom", "securityContext", "podSecurityContext", "hostNetwork", "dnsPolicy", "dnsConfig",
		"initContainers", "additionalContainers", "sidecars", "addons", "probes",
	}
)

// misspelt records a gap for each top-level value that app-template does not
// read although its name is nearly that of one it does. What a template of the
// values asks for is the user's own.
func (r *release) misspelt(kind family, values map[string]any) {
	known := newerKeys
	if kind == older {
		known = olderKeys
	}
	if r.chart.name != "app-template" || kind == anyChart {
		return
	}
	for _, key := range sortedKeys(values) {
		if slices.Contains(known, key) {
			continue
		}
		why := ""
		if near := suggest.Nearest(key, known); slices.Contains(movedKeys, key) && kind == newer {
			why = "the chart app-template ignores it since version 2; it belongs to a pod or container under controllers"
		} else if near != "" && !slices.Contains(olderKeys, key) && values[near] == nil {
			why = "the chart app-template has no such value and says nothing about it; did you mean " + near + "?"
		}
		if why == "" || isEmptyValue(values[key]) || asksFor(values, "."+key, 0) {
			continue
		}
		r.gapAtKey([]string{key}, "the value "+key+" of the "+r.kind+" "+r.object.Name+" was not read", why,
			"nothing that stands under it is installed or was checked")
	}
}

// asksFor reports whether a template in the values reads a field of .Values.
func asksFor(v any, field string, depth int) bool {
	switch v := v.(type) {
	case string:
		_, after, ok := strings.Cut(v, ".Values"+field)
		return ok && (after == "" || !strings.ContainsAny(after[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
	case map[string]any:
		for _, x := range v {
			if depth < maxSearchDepth && asksFor(x, field, depth+1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return depth < maxSearchDepth && asksFor(x, field, depth+1) })
	}
	return false
}
