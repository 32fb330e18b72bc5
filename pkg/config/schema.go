package config

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// SchemaID is the address under which the schema is published.
const SchemaID = "https://vpnlint.dev/schema/config.json"

// JSONSchema returns the JSON Schema of the plan file, indented, made from the
// types that decode it. It is what vpnlint schema config prints and what
// docs/schema/config.json holds.
func JSONSchema() (string, error) {
	root, err := schemaOf(reflect.TypeFor[document]())
	if err != nil {
		return "", err
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = SchemaID
	root["title"] = "vpnlint's plan file, " + FileName
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return "", fmt.Errorf("schema of the plan file: %w", err)
	}
	return string(text) + "\n", nil
}

func schemaOf(t reflect.Type) (map[string]any, error) {
	if t == reflect.TypeFor[version]() {
		return map[string]any{"const": 1}, nil
	}
	if w, is := reflect.Zero(t).Interface().(word); is {
		return w.describe(), nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Interface:
		return map[string]any{"type": []string{"string", "number", "boolean"}}, nil
	case reflect.Slice:
		items, err := schemaOf(t.Elem())
		if err != nil {
			return nil, err
		}
		return map[string]any{"type": "array", "items": items}, nil
	case reflect.Map:
		values, err := schemaOf(t.Elem())
		if err != nil {
			return nil, err
		}
		out := map[string]any{"type": "object", "additionalProperties": values}
		if key, is := reflect.Zero(t.Key()).Interface().(word); is {
			out["propertyNames"] = key.describe()
		}
		return out, nil
	case reflect.Struct:
		properties, required := map[string]any{}, []string{}
		for _, f := range fieldsOf(t) {
			property, err := schemaOf(t.Field(f.index).Type)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.key, err)
			}
			property["description"] = f.doc
			properties[f.key] = property
			if f.needed {
				required = append(required, f.key)
			}
		}
		out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
		if len(required) > 0 {
			out["required"] = required
		}
		return out, nil
	default:
		return nil, fmt.Errorf("the schema cannot describe a %s", t)
	}
}
