package request

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// document is what the tests read.
type document struct {
	S      *string        `json:"s"`
	B      bool           `json:"b"`
	L      []string       `json:"l"`
	N      float64        `json:"n"`
	O      *document      `json:"o"`
	List   []document     `json:"list"`
	Raw    jsontext.Value `json:"raw"`
	Absent *string        `json:"absent"`
}

func TestUnmarshal(t *testing.T) {
	const notObject = "body: must be a JSON object"
	accents := strings.Repeat("é", 100)
	for body, want := range map[string]string{
		`{}`:                 "",
		` {"s":"a"} ` + "\n": "",
		`{"s":"\u00e9","b":true,"l":["a"],"n":1e3,"o":{"l":[]},"list":[{},{"b":false}],"raw":null}`: "",
		``:                      notObject,
		`null`:                  notObject,
		`[]`:                    notObject,
		`"a"`:                   notObject,
		`{`:                     notObject,
		`{"s"`:                  notObject,
		`{"s":`:                 notObject,
		`{"s":"a"`:              notObject,
		`{"b":true,}`:           notObject,
		`{"b":true]`:            notObject,
		`{1:1}`:                 notObject,
		`{} x`:                  notObject,
		`{}{}`:                  notObject,
		`{"n":NaN}`:             notObject,
		"{\"s\":\"\xff\"}":      "body: must be UTF-8",
		`{"S":"a"}`:             "S: unknown field",
		`{"o":{"x":1}}`:         "o: x: unknown field",
		`{"list":[{},{"1":1}]}`: "list: element 1: 1: unknown field",
		`{"s":"a","s":"a"}`:     "s: appears more than once",
		`{"s":"a","\u0073":1}`:  "s: appears more than once",
		`{"raw":{"a":1,"a":2}}`: "raw: a: appears more than once",
		`{"a\n":1}`:             `"a\n": unknown field`,
		`{"":1}`:                `"": unknown field`,
		`{"` + accents + `":1}`: `"` + accents[:128] + `": unknown field`,
		`{"raw":` + strings.Repeat(`{"a":`, 1000) + `{"b":1,"b":1}` + strings.Repeat("}", 1001): "raw: a: a: a: b: " +
			"appears more than once",
		`{"s":1}`:          "s: must be a string",
		`{"s":null}`:       "s: must be a string",
		`{"b":"true"}`:     "b: must be true or false",
		`{"b":null}`:       "b: must be true or false",
		`{"l":"a"}`:        "l: must be an array of strings",
		`{"l":null}`:       "l: must be an array of strings",
		`{"l":["a",null]}`: "l: element 1: must be a string",
		`{"n":"1"}`:        "n: must be a number",
		`{"n":1e999}`:      "n: must be a number",
		`{"o":[]}`:         "o: must be an object",
		`{"o":null}`:       "o: must be an object",
		`{"list":{}}`:      "list: must be an array of objects",
		`{"list":[{},[]]}`: "list: element 1: must be an object",
	} {
		if got := errorText(UnmarshalObject([]byte(body), new(document))); got != want {
			t.Errorf("%.200q: got %q, want %q", body, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
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
			err := ReadObject(r, limit, new(admission.Hold), new(map[string]any))
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
		var o map[string]any
		if err := ReadObject(r.WithContext(ctx), 100, new(admission.Hold), &o); err != nil || len(o) != 1 {
			t.Errorf("length %d: %v, %v", length, o, err)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	rec := httptest.NewRecorder()
	WriteJSON(rec, http.StatusCreated, map[string]string{"a": "<b>"})
	if rec.Code != http.StatusCreated || rec.Body.String() != `{"a":"<b>"}`+"\n" ||
		rec.Header().Get("Content-Type") != "application/json" || rec.Header().Get("Content-Length") != "12" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

// FuzzUnmarshalObject holds Unmarshal against encoding/json: it takes no other objects, and reads the same fields.
func FuzzUnmarshalObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, `{"a":[1,{"b":null}],"c":"\ud800"}`, `{"a":1,"a":2}`, `[]`, `{"a":1}x`, "{\"\xff\":1}",
		`{"a":1e999}`, `{"a":`, "", `{"list":[{"o":{"s":1}}]}`,
		strings.Repeat(`{"a":`, 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var fields map[string]jsontext.Value
		for _, err := range []error{UnmarshalObject(body, &fields), UnmarshalObject(body, new(document))} {
			if text := errorText(err); strings.ContainsAny(text, "\n\x00") || len(text) > 4000 {
				t.Errorf("error is not fit to be shown: %q", text)
			}
		}
		if UnmarshalObject(body, &fields) != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(body, &want); err != nil {
			t.Fatalf("%q was taken, which encoding/json refuses: %v", body, err)
		}
		if len(want) != len(fields) {
			t.Errorf("%q: %d fields, want %d", body, len(fields), len(want))
		}
		for name := range want {
			if _, has := fields[name]; !has {
				t.Errorf("%q: field %q is missing", body, name)
			}
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
