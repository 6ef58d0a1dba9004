package httpjson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/admission"
	"github.com/mapsedge/caddy-maps/internal/apierror"
)

func TestParseObject(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                  "",
		` {"a":1} ` + "\n":    "",
		`{"a":{"a":1,"a":2}}`: "", // what is inside a field is its reader's affair
		``:                    "body: must be a JSON object",
		`null`:                "body: must be a JSON object",
		`[]`:                  "body: must be a JSON object",
		`"a"`:                 "body: must be a JSON object",
		`{`:                   "body: must be a JSON object",
		`{"a"`:                "body: must be a JSON object",
		`{"a":`:               "body: must be a JSON object",
		`{"a":1`:              "body: must be a JSON object",
		`{"a":1,}`:            "body: must be a JSON object",
		`{"a":1]`:             "body: must be a JSON object",
		`{1:1}`:               "body: must be a JSON object",
		`{} x`:                "body: must be a JSON object",
		`{}{}`:                "body: must be a JSON object",
		`{"a":NaN}`:           "body: must be a JSON object",
		"{\"a\":\"\xff\"}":    "body: must be UTF-8",
		`{"a":1,"a":1}`:       "a: appears more than once",
		`{"a":1,"\u0061":1}`:  "a: appears more than once",
		`{"b c":1,"b c":1}`:   `"b c": appears more than once`,
		`{"":1,"":1}`:         `"": appears more than once`,
		`{"a` + strings.Repeat("é", 100) + `":1,"a` + strings.Repeat("é", 100) + `":1}`: `"a` + strings.Repeat("é", 31) +
			`…": appears more than once`,
	} {
		_, err := ParseObject([]byte(body))
		if got := errorText(err); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFields(t *testing.T) {
	o, err := ParseObject([]byte(`{"s":"x","b":true,"l":["a","b"],"n":null,"i":1,"ln":["a",null],"li":[1],"e":[],"o":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if o.Len() != 9 || !o.Has("n") || o.Has("N") {
		t.Errorf("Len %d, Has %v %v", o.Len(), o.Has("n"), o.Has("N"))
	}
	if s, present, err := o.String("s"); s != "x" || !present || err != nil {
		t.Errorf("s: %q %v %v", s, present, err)
	}
	if b, present, err := o.Bool("b"); !b || !present || err != nil {
		t.Errorf("b: %v %v %v", b, present, err)
	}
	if l, present, err := o.Strings("l"); !cmp.Equal(l, []string{"a", "b"}) || !present || err != nil {
		t.Errorf("l: %q %v %v", l, present, err)
	}
	if l, present, err := o.Strings("e"); len(l) != 0 || !present || err != nil {
		t.Errorf("e: %q %v %v", l, present, err)
	}
	for _, name := range []string{"absent", "S"} {
		_, p1, err1 := o.String(name)
		_, p2, err2 := o.Bool(name)
		_, p3, err3 := o.Strings(name)
		if p1 || p2 || p3 || err1 != nil || err2 != nil || err3 != nil {
			t.Errorf("%s is present", name)
		}
	}
	for _, name := range []string{"b", "l", "n", "i", "o"} {
		if _, _, err := o.String(name); errorText(err) != name+": must be a string" {
			t.Errorf("%s as a string: %v", name, err)
		}
	}
	for _, name := range []string{"s", "l", "n", "i", "o"} {
		if _, _, err := o.Bool(name); errorText(err) != name+": must be true or false" {
			t.Errorf("%s as a bool: %v", name, err)
		}
	}
	for _, name := range []string{"s", "b", "n", "i", "ln", "li", "o"} {
		if _, _, err := o.Strings(name); errorText(err) != name+": must be an array of strings" {
			t.Errorf("%s as strings: %v", name, err)
		}
	}
	if err := o.Only("s", "b", "l", "n", "i", "ln", "li", "e", "o"); err != nil {
		t.Error(err)
	}
	if err := o.Only("s", "l", "n"); errorText(err) != "b: unknown field" {
		t.Error(err)
	}
}

// TestNested reads the fields that hold numbers and objects, and whatever else stands where these are wanted.
func TestNested(t *testing.T) {
	const number, object, objects = "f: must be a whole number from 0 to 100", "f: must be an object",
		"f: must be an array of objects"
	for value, want := range map[string][3]string{ // what Whole, Object and Objects say
		`7`:                   {"7", object, objects},
		`100`:                 {"100", object, objects},
		`1e2`:                 {"100", object, objects},
		`-0.0`:                {"0", object, objects},
		`101`:                 {number, object, objects},
		`-1`:                  {number, object, objects},
		`1.5`:                 {number, object, objects},
		`1e999`:               {number, object, objects},
		`"7"`:                 {number, object, objects},
		`null`:                {number, object, objects},
		`{}`:                  {number, "0 fields", objects},
		`{"a":{"b":1}}`:       {number, "1 fields", objects},
		`{"a":1,"a":2}`:       {number, "f: a: appears more than once", objects},
		`[]`:                  {number, object, "0 objects"},
		`[{},{"a":[]}]`:       {number, object, "2 objects"},
		`[{},{"a":1,"a":2}]`:  {number, object, "f: element 1: a: appears more than once"},
		`[{},null]`:           {number, object, objects},
		`[{},[]]`:             {number, object, objects},
		`["{}"]`:              {number, object, objects},
		`9007199254740993.25`: {number, object, objects},
	} {
		o, err := ParseObject([]byte(`{"f":` + value + `}`))
		if err != nil {
			t.Fatal(err)
		}
		whole, _, err1 := o.Whole("f", 100)
		inner, _, err2 := o.Object("f")
		list, _, err3 := o.Objects("f")
		got := [3]string{strconv.FormatInt(whole, 10), fmt.Sprintf("%d fields", inner.Len()),
			fmt.Sprintf("%d objects", len(list))}
		for i, err := range []error{err1, err2, err3} {
			if err != nil {
				got[i] = err.Error()
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
	_, p1, err1 := Object{}.Whole("f", 1)
	_, p2, err2 := Object{}.Object("f")
	_, p3, err3 := Object{}.Objects("f")
	if p1 || p2 || p3 || err1 != nil || err2 != nil || err3 != nil {
		t.Error("a field that is not there is present")
	}
}

func TestReadObject(t *testing.T) {
	const limit = 10
	for _, tc := range []struct {
		name   string
		body   io.Reader
		header map[string]string
		status int // 0: read
	}{
		{"within the limit", strings.NewReader(`{"abc":12}`), nil, 0},
		{"beyond it, announced", strings.NewReader(`{"abc":123}`), nil, 413},
		{"beyond it, not announced", io.MultiReader(strings.NewReader(`{"abc":123}`)), nil, 413},
		{"broken off", io.MultiReader(strings.NewReader(`{`), iotest.ErrReader(io.ErrUnexpectedEOF)), nil, 400},
		{"refused by somebody else's limit", iotest.ErrReader(&http.MaxBytesError{Limit: 3}), nil, 413},
		{"no object", strings.NewReader(`[]`), nil, 400},
		{"JSON", strings.NewReader(`{}`), map[string]string{"Content-Type": "application/json"}, 0},
		{"identity", strings.NewReader(`{}`), map[string]string{"Content-Encoding": "identity"}, 0},
		{"gzip", strings.NewReader(`{}`), map[string]string{"Content-Encoding": "gzip"}, 415},
		{"text", strings.NewReader(`{}`), map[string]string{"Content-Type": "text/plain"}, 415},
		{"malformed type", strings.NewReader(`{}`), map[string]string{"Content-Type": "application/json; ="}, 415},
		{"another charset", strings.NewReader(`{}`), map[string]string{"Content-Type": "application/json; charset=utf-16"},
			415},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", tc.body)
			for name, value := range tc.header {
				r.Header.Set(name, value)
			}
			_, err := ReadObject(r, limit, new(admission.Hold))
			var answer apierror.Error
			errors.As(err, &answer)
			if answer.Status != tc.status || (err == nil) != (tc.status == 0) {
				t.Errorf("got %d %v, want %d", answer.Status, err, tc.status)
			}
		})
	}
}

// A body that somebody has put in place of the client's may claim to have no length.
func TestLengthThatIsNotSo(t *testing.T) {
	for _, length := range []int64{0, 1, 5} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"abc":12}`))
		r.ContentLength = length
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if o, err := ReadObject(r.WithContext(ctx), 100, new(admission.Hold)); err != nil || o.Len() != 1 {
			t.Errorf("length %d: %d fields, %v", length, o.Len(), err)
		}
	}
}

func TestReadOptionalObject(t *testing.T) {
	for _, tc := range []struct {
		name, body, media string
		fields            int
		status            int // 0: read
	}{
		{"nothing", "", "", 0, 0},
		{"nothing, of any type", "", "application/x-www-form-urlencoded", 0, 0},
		{"an object", `{"a":1}`, "application/json", 1, 0},
		{"an object without fields", `{}`, "", 0, 0},
		{"an object, of another type", `{"a":1}`, "text/plain", 0, 415},
		{"no object", `null`, "application/json", 0, 400},
		{"a space", ` `, "application/json", 0, 400},
		{"beyond the limit", `{"abc":123}`, "", 0, 413},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
			if tc.media != "" {
				r.Header.Set("Content-Type", tc.media)
			}
			o, err := ReadOptionalObject(r, 10, new(admission.Hold))
			var answer apierror.Error
			errors.As(err, &answer)
			if answer.Status != tc.status || (err == nil) != (tc.status == 0) || o.Len() != tc.fields {
				t.Errorf("got %d fields, %d %v; want %d, %d", o.Len(), answer.Status, err, tc.fields, tc.status)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	rec := httptest.NewRecorder()
	Write(rec, http.StatusCreated, map[string]string{"a": "<b>"})
	if rec.Code != http.StatusCreated || rec.Body.String() != `{"a":"<b>"}`+"\n" ||
		rec.Header().Get("Content-Type") != "application/json" || rec.Header().Get("Content-Length") != "12" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

// FuzzParseObject holds ParseObject against encoding/json: whatever it takes is an object there too, with the same
// fields.
func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, `{"a":[1,{"b":null}],"c":"\ud800"}`, `{"a":1,"a":2}`, `[]`, `{"a":1}x`, "{\"\xff\":1}",
		`{"a":1e999}`, `{"a":`, "",
		strings.Repeat(`{"a":`, 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := ParseObject(body)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 600 {
				t.Errorf("error is not fit to be shown: %q", err)
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("%q was taken, which encoding/json refuses: %v", body, err)
		}
		if len(want) != o.Len() {
			t.Errorf("%q: %d fields, want %d", body, o.Len(), len(want))
		}
		for name := range want {
			if !o.Has(name) {
				t.Errorf("%q: field %q is missing", body, name)
			}
			_, _, _ = o.String(name)
			_, _, _ = o.Bool(name)
			_, _, _ = o.Strings(name)
			_, _, _ = o.Whole(name, 1<<53-1)
			_, _, _ = o.Object(name)
			_, _, _ = o.Objects(name)
		}
	})
}

// TestTooLargeIsRead checks that a client that writes its whole body before it reads gets the response, and that a
// body far beyond the limit is not read.
func TestTooLargeIsRead(t *testing.T) {
	const limit = 1 << 20
	for name, c := range map[string]struct {
		size   int64
		expect string
		want   int64 // bytes that are read
	}{
		"somewhat too large": {3 * limit, "", 3 * limit},
		"far too large":      {100 * limit, "", 0},
		"asked first":        {3 * limit, "100-continue", 0},
	} {
		t.Run(name, func(t *testing.T) {
			body := &countingReader{rest: c.size}
			r := httptest.NewRequest(http.MethodPost, "/", body)
			r.ContentLength = c.size
			if c.expect != "" {
				r.Header.Set("Expect", c.expect)
			}
			_, err := ReadBody(r, limit, new(admission.Hold))
			var refused apierror.Error
			if !errors.As(err, &refused) || refused.Status != http.StatusRequestEntityTooLarge {
				t.Errorf("error %v, want 413", err)
			}
			if body.read != c.want {
				t.Errorf("%d bytes were read, want %d", body.read, c.want)
			}
		})
	}
	body := &countingReader{rest: 100 * limit}
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.ContentLength = -1
	if _, err := ReadBody(r, limit, new(admission.Hold)); err == nil || body.read > 6*limit {
		t.Errorf("of a chunked body %d bytes were read; %v", body.read, err)
	}
}

type countingReader struct{ rest, read int64 }

func (c *countingReader) Read(p []byte) (int, error) {
	if c.rest == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), c.rest)
	c.rest -= n
	c.read += n
	return int(n), nil
}
