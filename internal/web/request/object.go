package request

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strict refuses unknown fields, and null instead of a value. The library refuses duplicate names and invalid UTF-8,
// and matches names exactly.
var strict = json.JoinOptions(
	json.RejectUnknownMembers(true),
	json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, dst any) error {
		if _, raw := dst.(*jsontext.Value); raw || dec.PeekKind() != jsontext.KindNull {
			return errors.ErrUnsupported // read it as usual
		}
		return &json.SemanticError{GoType: reflect.TypeOf(dst).Elem()}
	})),
)

// UnmarshalObject reads a JSON object into a struct or a map. The error names the field that is wrong, such as
// "quotas: element 0: limit: must be a number", and can be shown to clients. Fields that are missing stay unchanged; a
// jsontext.Value accepts any value, including null.
func UnmarshalObject(body []byte, dst any) error {
	err := json.Unmarshal(body, dst, strict)
	if err == nil {
		return nil
	}
	if !utf8.Valid(body) {
		return errors.New("body: must be UTF-8")
	}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONPointer != "" {
		if errors.Is(wrong.Err, json.ErrUnknownName) {
			return fmt.Errorf("%s: unknown field", member(wrong.JSONPointer))
		}
		return fmt.Errorf("%s: must be %s", fieldPath(wrong.JSONPointer), kind(wrong.GoType))
	}
	if twice, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(twice.Err, jsontext.ErrDuplicateName) {
		return fmt.Errorf("%s: appears more than once", member(twice.JSONPointer))
	}
	return errors.New("body: must be a JSON object")
}

// fieldPath returns the position of a value for an error, at most four steps.
func fieldPath(at jsontext.Pointer) string {
	const most = 4
	var parts []string
	for part := range at.Tokens() {
		if len(parts) == most {
			break
		}
		if _, err := strconv.ParseUint(part, 10, 64); err == nil {
			part = "element " + part
		}
		parts = append(parts, printable(part))
	}
	return strings.Join(parts, ": ")
}

// member is fieldPath for a position that ends in the name of a field.
func member(at jsontext.Pointer) string {
	name := printable(at.LastToken())
	if parent := at.Parent(); parent != "" {
		return fieldPath(parent) + ": " + name
	}
	return name
}

// printable returns a field's name for an error: quoted if it has special characters, and shortened if it is long.
func printable(name string) string {
	const plain = "_- 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if name == "" || strings.Trim(name, plain) != "" {
		return fmt.Sprintf("%.64q", name)
	}
	return fmt.Sprintf("%.64s", name)
}

// kind returns the JSON name of a type.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kind(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array of " + strings.TrimPrefix(strings.TrimPrefix(kind(t.Elem()), "a "), "an ") + "s"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}
