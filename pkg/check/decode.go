package check

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// wrongField says of what encoding/json refuses which field it is and what was
// wanted there.
func wrongField(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s is a %s, want %s", cmp.Or(wrong.Field, "it"), wrong.Value, wanted(wrong.Type))
	}
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !unknown {
		return err
	}
	return fmt.Errorf("there is no key %s", name)
}

// wanted names a kind of JSON value.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	default:
		return "a number"
	}
}
