package options

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// Decode reads the JSON of a module into its struct. Every module calls it in its UnmarshalJSON, since the errors of
// Caddy's decoder do not say where a mistake is. Those of Decode name the path of the field and what belongs there.
// Names of fields are case-sensitive.
func Decode(data []byte, module any) error {
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(data, &members); err != nil {
		return decodeError("", err)
	}
	value := reflect.ValueOf(module).Elem()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		fields := reflect.VisibleFields(value.Type()) // those of embedded structs included
		i := slices.IndexFunc(fields, func(f reflect.StructField) bool { return nameInJSON(f) == name })
		if i < 0 {
			return unknownField(name, value.Type())
		}
		into := value.FieldByIndex(fields[i].Index).Addr().Interface()
		if err := jsonv2.Unmarshal(members[name], into, jsonv2.RejectUnknownMembers(true)); err != nil {
			return decodeError(name, err)
		}
		if err := checkGuests(name, fields[i].Tag.Get("caddy"), into); err != nil {
			return err
		}
	}
	return nil
}

// nameInJSON returns the name of a field; "" for one that is not in JSON.
func nameInJSON(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}

func unknownField(path string, t reflect.Type) error {
	var known []string
	for _, field := range reflect.VisibleFields(t) {
		if name := nameInJSON(field); name != "" {
			known = append(known, name)
		}
	}
	return fmt.Errorf("%s: unknown field; %s", path, text.DidYouMean(path[strings.LastIndexByte(path, '.')+1:], known))
}

// decodeError describes an error of the decoder in the field at a path; "" is the module itself.
func decodeError(path string, err error) error {
	semantic, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok {
		return err // a name that appears twice
	}
	for token := range semantic.JSONPointer.Tokens() {
		path = strings.TrimPrefix(path+"."+token, ".")
	}
	switch {
	case errors.Is(err, jsonv2.ErrUnknownName):
		return unknownField(path, semantic.GoType)
	case path == "":
		return errors.New("must be " + inJSON(semantic.GoType))
	default:
		return fmt.Errorf("%s: must be %s", path, inJSON(semantic.GoType))
	}
}

// inJSON says how values of a type are written in JSON.
func inJSON(t reflect.Type) string {
	if t == reflect.TypeFor[caddy.Duration]() {
		return `a duration, such as "90s", "15m", "12h" or "30d"`
	}
	switch t.Kind() {
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false, without quotes"
	case reflect.Slice:
		return "a list, in brackets"
	case reflect.Struct, reflect.Map:
		return "an object, in braces"
	case reflect.Float64:
		return "a number, without quotes"
	default:
		return "a whole number, without quotes"
	}
}

// checkGuests checks the names of the modules in a field with this caddy tag. Caddy names neither the field nor the
// modules that there are.
func checkGuests(path, tag string, field any) error {
	keys, err := caddy.ParseStructTag(tag)
	if err != nil {
		return err
	}
	key, namespace := keys["inline_key"], keys["namespace"]
	if key == "" {
		return nil
	}
	guests := make(map[string]json.RawMessage)
	switch raw := field.(type) {
	case *json.RawMessage:
		guests[path] = *raw
	case *[]json.RawMessage:
		for i, guest := range *raw {
			guests[path+"."+strconv.Itoa(i)] = guest
		}
	}
	for _, path := range slices.Sorted(maps.Keys(guests)) {
		var members map[string]json.RawMessage
		if err := jsonv2.Unmarshal(guests[path], &members); err != nil {
			return decodeError(path, err)
		}
		var name string
		if err := json.Unmarshal(members[key], &name); err != nil {
			return fmt.Errorf("%s.%s: must name a module; %s", path, key, modulesIn(namespace, ""))
		}
		if _, err := caddy.GetModule(namespace + "." + name); err != nil {
			return fmt.Errorf("%s.%s: %q is not known; %s", path, key, name, modulesIn(namespace, name))
		}
	}
	return nil
}
