package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// field is one JSON field of a module, or of an object in it.
type field struct {
	path     string // such as user_tokens.issuer
	kind     string // its type, in words
	fallback string // its default; "" for one that is required
	about    string // one line
}

// fieldsOf lists the JSON fields of a type, those of objects of this repository within it included. path is what
// stands before their names. The fields of embedded structs are the type's own.
func fieldsOf(c *comments, typ reflect.Type, path string) (fields []field, err error) {
	if typ.Kind() != reflect.Struct {
		return nil, nil
	}
	name, _, _ := strings.Cut(typ.Name(), "[") // without type arguments
	t, err := c.typeNamed(typ.PkgPath(), name)
	if err != nil {
		return nil, err
	}
	var problems []error
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			more, err := fieldsOf(c, elementOf(f.Type), path)
			fields, problems = append(fields, more...), append(problems, err)
			continue
		case name == "":
			problems = append(problems, fmt.Errorf("the field %s of %s has no name in JSON", f.Name, typ))
			continue
		}
		described, err := parseComment(fieldComment(t, f.Name))
		if err != nil {
			problems = append(problems, fmt.Errorf("the field %s of %s %w", f.Name, typ, err))
			continue
		}
		described.path = path + name
		described.kind = kindOf(f.Type, f.Tag.Get("caddy"))
		fields = append(fields, described)

		below := described.path + "."
		switch f.Type.Kind() {
		case reflect.Map:
			below = described.path + ".<name>."
		case reflect.Slice:
			below = described.path + "[]."
		}
		if element := elementOf(f.Type); strings.HasPrefix(element.PkgPath(), goModule+"/") {
			more, err := fieldsOf(c, element, below)
			fields, problems = append(fields, more...), append(problems, err)
		}
	}
	return fields, errors.Join(problems...)
}

// elementOf is what a pointer, a list or a map holds.
func elementOf(typ reflect.Type) reflect.Type {
	for {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			typ = typ.Elem()
		default:
			return typ
		}
	}
}

// A default ends with a period before a space or the end, so that it may hold others.
var (
	defaultPhrase  = regexp.MustCompile(`(?:^| )Default: (.+?)\.(?: |$)`)
	requiredPhrase = regexp.MustCompile(`(?:^| )Required\.(?: |$)`)
)

// parseComment splits the comment of a field. The error tells what it lacks.
func parseComment(comment string) (f field, err error) {
	text := strings.Join(strings.Fields(comment), " ")
	if text == "" {
		return f, errors.New("has no comment")
	}
	phrase := requiredPhrase
	if match := defaultPhrase.FindStringSubmatch(text); match != nil {
		phrase, f.fallback = defaultPhrase, match[1]
	}
	at := phrase.FindStringIndex(text)
	if at == nil {
		return f, errors.New(`says neither "Default: …." nor "Required."`)
	}
	f.about = strings.TrimSpace(text[:at[0]] + " " + text[at[1]:])
	if f.about == "" {
		return f, errors.New("has nothing but a default in its comment")
	}
	return f, nil
}

// kindOf describes a type as JSON has it. caddyTag is the tag that says which module a field holds.
func kindOf(typ reflect.Type, caddyTag string) string {
	if caddyTag != "" {
		namespace, key := "", ""
		for part := range strings.FieldsSeq(caddyTag) {
			name, value, _ := strings.Cut(part, "=")
			switch name {
			case "namespace":
				namespace = value
			case "inline_key":
				key = value
			}
		}
		if typ == reflect.TypeFor[[]json.RawMessage]() {
			return fmt.Sprintf("list of modules of `%s`, each named by `%s`", namespace, key)
		}
		return fmt.Sprintf("module of `%s`, named by `%s`", namespace, key)
	}
	switch typ {
	case reflect.TypeFor[caddy.Duration]():
		return "duration"
	case reflect.TypeFor[json.RawMessage]():
		return "object"
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return kindOf(typ.Elem(), "")
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Slice, reflect.Array:
		return "list of " + plural(kindOf(typ.Elem(), ""))
	case reflect.Map:
		return "map of " + plural(kindOf(typ.Elem(), "")) + " by name"
	}
	return "object"
}

// plural is what several of a kind are called.
func plural(kind string) string {
	if rest, list := strings.CutPrefix(kind, "list "); list {
		return "lists " + rest
	}
	return kind + "s"
}
