package httpjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Object is a JSON object whose fields have been told apart but not read yet. Unlike encoding/json by itself it matches
// names exactly, and refuses duplicate names, invalid UTF-8 and anything after the object.
type Object struct {
	names  []string // in the order of the body
	fields map[string]json.RawMessage
}

var errNotObject = errors.New("body: must be a JSON object")

// ParseObject reads a JSON object. The error's text is fit for the client.
func ParseObject(body []byte) (Object, error) {
	if !utf8.Valid(body) {
		return Object{}, errors.New("body: must be UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return Object{}, errNotObject
	}
	obj := Object{fields: make(map[string]json.RawMessage)}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return Object{}, errNotObject
		}
		name, ok := token.(string)
		if !ok {
			return Object{}, errNotObject
		}
		if _, twice := obj.fields[name]; twice {
			return Object{}, fmt.Errorf("%s: appears more than once", printable(name))
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return Object{}, errNotObject
		}
		obj.names = append(obj.names, name)
		obj.fields[name] = value
	}
	if end, err := dec.Token(); err != nil || end != json.Delim('}') {
		return Object{}, errNotObject
	}
	if _, err := dec.Token(); err != io.EOF {
		return Object{}, errNotObject
	}
	return obj, nil
}

// printable is a field's name as it may stand in an error: quoted where it is not a plain word, cut where it is long.
func printable(name string) string {
	const longest = 64
	if len(name) > longest {
		cut := longest
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "…"
	}
	for _, r := range name {
		if !(r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return strconv.Quote(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// Len returns the number of fields.
func (o Object) Len() int { return len(o.names) }

// Only reports the first field whose name is not among the known ones.
func (o Object) Only(known ...string) error {
	for _, name := range o.names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s: unknown field", printable(name))
		}
	}
	return nil
}

// Has reports whether the object has a field, also if it is null.
func (o Object) Has(name string) bool {
	_, has := o.fields[name]
	return has
}

// String reads a string. present is false if the object has no such field.
func (o Object) String(name string) (value string, present bool, err error) {
	err = o.read(name, "a string", &value, &present)
	return value, present, err
}

// Bool reads true or false.
func (o Object) Bool(name string) (value, present bool, err error) {
	err = o.read(name, "true or false", &value, &present)
	return value, present, err
}

// Strings reads an array of strings.
func (o Object) Strings(name string) (values []string, present bool, err error) {
	var elements []*string // so that a null among them is seen
	if err := o.read(name, "an array of strings", &elements, &present); err != nil {
		return nil, present, err
	}
	for _, element := range elements {
		if element == nil {
			return nil, present, fmt.Errorf("%s: must be an array of strings", name)
		}
		values = append(values, *element)
	}
	return values, present, nil
}

// Whole reads a whole number from 0 to most, which is at most 2^53-1.
func (o Object) Whole(name string, most int64) (value int64, present bool, err error) {
	kind := fmt.Sprintf("a whole number from 0 to %d", most)
	var number float64 // which, unlike an int64, may be written as 1e3
	if err := o.read(name, kind, &number, &present); err != nil || !present {
		return 0, present, err
	}
	if number < 0 || number > float64(most) || number != math.Trunc(number) {
		return 0, true, fmt.Errorf("%s: must be %s", name, kind)
	}
	return int64(number), true, nil
}

// Object reads an object.
func (o Object) Object(name string) (value Object, present bool, err error) {
	var raw json.RawMessage
	if err := o.read(name, "an object", &raw, &present); err != nil || !present {
		return Object{}, present, err
	}
	value, err = ParseObject(raw)
	switch {
	case errors.Is(err, errNotObject):
		err = fmt.Errorf("%s: must be an object", name)
	case err != nil:
		err = fmt.Errorf("%s: %w", name, err)
	}
	return value, true, err
}

// Objects reads an array of objects. An error that an object has tells its number, from 0.
func (o Object) Objects(name string) (values []Object, present bool, err error) {
	const kind = "an array of objects"
	var elements []json.RawMessage
	if err := o.read(name, kind, &elements, &present); err != nil {
		return nil, present, err
	}
	for i, raw := range elements {
		value, err := ParseObject(raw)
		switch {
		case errors.Is(err, errNotObject):
			return nil, present, fmt.Errorf("%s: must be %s", name, kind)
		case err != nil:
			return nil, present, fmt.Errorf("%s: element %d: %w", name, i, err)
		}
		values = append(values, value)
	}
	return values, present, nil
}

func (o Object) read(name, kind string, dst any, present *bool) error {
	raw, has := o.fields[name]
	*present = has
	if !has {
		return nil
	}
	// encoding/json takes null for "leave it as it is"
	if string(raw) == "null" || json.Unmarshal(raw, dst) != nil {
		return fmt.Errorf("%s: must be %s", name, kind)
	}
	return nil
}
