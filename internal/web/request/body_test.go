package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

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

func TestUnmarshalObject(t *testing.T) {
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
		if err := UnmarshalObject([]byte(body), new(document)); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%.200q: got %v, want %q", body, err, want)
		}
	}
}

func TestReadObject(t *testing.T) {
	const limit = 10
	for name, tc := range map[string]struct {
		body   io.Reader
		header [2]string
		status int    // 0: read
		says   string // the error
	}{
		"within the limit":                  {body: strings.NewReader(`{"abc":12}`)},
		"beyond it, announced":              {body: strings.NewReader(`{"abc":123}`), status: 413},
		"beyond it, not announced":          {body: io.MultiReader(strings.NewReader(`{"abc":123}`)), status: 413},
		"broken off":                        {body: iotest.ErrReader(io.ErrUnexpectedEOF), status: 400},
		"beyond the limit of another layer": {body: iotest.ErrReader(&http.MaxBytesError{Limit: 3}), status: 413},
		"no object":                         {body: strings.NewReader(`[]`), status: 400},
		"JSON":                              {strings.NewReader(`{}`), [2]string{"Content-Type", "application/json"}, 0, ""},
		"identity":                          {strings.NewReader(`{}`), [2]string{"Content-Encoding", "identity"}, 0, ""},
		"gzip": {strings.NewReader(`{}`), [2]string{"Content-Encoding", "gzip"}, 415,
			"Content-Encoding: gzip is not accepted; send the body as it is"},
		"text": {strings.NewReader(`{}`), [2]string{"Content-Type", "text/plain"}, 415,
			"Content-Type: text/plain is not accepted; send application/json"},
		"malformed type": {strings.NewReader(`{}`), [2]string{"Content-Type", "application/json; ="}, 415,
			"Content-Type: is malformed; send application/json"},
		"another charset": {strings.NewReader(`{}`), [2]string{"Content-Type", "application/json; charset=utf-16"}, 415,
			"Content-Type: charset utf-16 is not accepted; send UTF-8"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", tc.body)
		r.Header.Set(tc.header[0], tc.header[1])
		err := ReadObject(r, limit, new(admission.Reservation), new(map[string]any))
		answer, _ := errors.AsType[apierror.Error](err)
		if answer.Status != tc.status || (err == nil) != (tc.status == 0) || tc.says != "" && answer.Message != tc.says {
			t.Errorf("%s: got %d %v, want %d %s", name, answer.Status, err, tc.status, tc.says)
		}
	}
	// A body that another handler has put in place of the client's may claim to have no length.
	for _, length := range []int64{0, 1, 5} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"abc":12}`))
		r.ContentLength = length
		var o map[string]any
		if err := ReadObject(r, 100, new(admission.Reservation), &o); err != nil || len(o) != 1 {
			t.Errorf("length %d: %v, %v", length, o, err)
		}
	}
}

func TestWrite(t *testing.T) {
	rec := httptest.NewRecorder()
	WriteJSON(rec, http.StatusCreated, map[string]string{"a": "<b>"})
	if rec.Code != http.StatusCreated || rec.Body.String() != `{"a":"<b>"}`+"\n" ||
		rec.Header().Get("Content-Type") != "application/json" || rec.Header().Get("Content-Length") != "12" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}

// FuzzUnmarshal compares Unmarshal with encoding/json: it takes no other objects, and reads the same fields.
func FuzzUnmarshalObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":1}`, `{"a":[1,{"b":null}],"c":"\ud800"}`, `{"a":1,"a":2}`, `[]`, `{"a":1}x`, "{\"\xff\":1}",
		`{"a":1e999}`, `{"a":`, "", `{"list":[{"o":{"s":1}}]}`, strings.Repeat(`{"a":`, 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var fields map[string]jsontext.Value
		err := UnmarshalObject(body, &fields)
		for _, err := range []error{err, UnmarshalObject(body, new(document))} {
			if text := fmt.Sprint(err); strings.ContainsAny(text, "\n\x00") || len(text) > 4000 {
				t.Errorf("error is not fit to be shown: %q", text)
			}
		}
		var want map[string]json.RawMessage
		if err == nil && (json.Unmarshal(body, &want) != nil || !maps.EqualFunc(want, fields,
			func(json.RawMessage, jsontext.Value) bool { return true })) {
			t.Errorf("%q is %v, and to encoding/json %v", body, fields, want)
		}
	})
}

// TestTooLargeIsRead: a client that writes its whole body before it reads gets the response, and a body far beyond the
// limit is not read.
func TestTooLargeIsRead(t *testing.T) {
	const limit = 1 << 20
	for name, c := range map[string]struct {
		size, length int64
		expect       string
		most         int64 // bytes that are read
	}{
		"somewhat too large": {3 * limit, 3 * limit, "", 3 * limit},
		"far too large":      {100 * limit, 100 * limit, "", 0},
		"chunked":            {100 * limit, -1, "", 6 * limit},
		"asked first":        {3 * limit, 3 * limit, "100-continue", 0},
	} {
		body := io.LimitedReader{R: zeros{}, N: c.size}
		r := httptest.NewRequest(http.MethodPost, "/", &body)
		r.ContentLength = c.length
		r.Header.Set("Expect", c.expect)
		_, err := ReadBody(r, limit, new(admission.Reservation))
		read := c.size - body.N
		if e, _ := errors.AsType[apierror.Error](err); e.Status != 413 || read > c.most || c.most == c.size && read < c.most {
			t.Errorf("%s: error %v, %d bytes were read, want %d", name, err, read, c.most)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
