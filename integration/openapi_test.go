package integration

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// description is an OpenAPI document, with which requests and responses are compared.
type description struct {
	model     *v3.Document
	validator validator.Validator
	paths     map[string]*v3.PathItem

	mu   sync.Mutex
	seen map[string]int // answers, by operation and kind of answer
}

// The documents of the service and of the admin endpoint.
var (
	publicAPI = sync.OnceValues(func() (*description, error) { return readDescription("openapi.yaml") })
	adminAPI  = sync.OnceValues(func() (*description, error) { return readDescription("openapi-admin.yaml") })
)

func readDescription(name string) (*description, error) {
	data, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		return nil, err
	}
	document, err := libopenapi.NewDocument(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	model, err := document.BuildV3Model()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &description{model: &model.Model, paths: make(map[string]*v3.PathItem), seen: make(map[string]int)}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		d.paths[path] = item
	}
	var errs []error
	if d.validator, errs = validator.NewValidator(document, config.WithFormatAssertions()); len(errs) > 0 {
		return nil, fmt.Errorf("%s: %w", name, errs[0])
	}
	return d, nil
}

// find returns the path of the document that a request's path is of; "" where it is of none.
func (d *description) find(path string) string {
	if d.paths[path] != nil {
		return path
	}
	segments := strings.Split(path, "/")
	for template := range d.paths {
		parts := strings.Split(template, "/")
		if slices.EqualFunc(parts, segments, func(part, segment string) bool {
			return part == segment || strings.HasPrefix(part, "{") && segment != ""
		}) {
			return template
		}
	}
	return ""
}

// tidy gives a path the one of its two forms that the document has.
func tidy(path string) string {
	switch path {
	case match:
		return strings.TrimSuffix(match, "/")
	case accounts + "/":
		return accounts
	}
	return path
}

// Some tests send thousands of requests: of each kind of response the first 100 are compared, then one of 50.
const (
	alwaysCompared = 100
	thenOneOf      = 50
)

// compare fails the test where an answer, or a request that was answered with success, is not as the document has it.
func (d *description) compare(t testing.TB, req *http.Request, body string, a *answer) {
	t.Helper()
	path := tidy(req.URL.Path)
	template := d.find(path)
	switch {
	case template == "" || req.Method == http.MethodOptions: // no path of ours, and preflights
		return
	case (a.status == 400 || a.status == 431) && strings.HasPrefix(a.header.Get("Content-Type"), "text/plain"):
		return // refused by Go's server before a handler has run
	case template == route && !slices.Contains([]int{401, 403, 429}, a.status):
		return // the upstream's own response
	}
	fail := func(problem string) {
		t.Helper()
		t.Errorf("OpenAPI: %s %.300s: status %d: %.2000s\n%.500s", req.Method, a.call.path, a.status, problem, a.body)
	}
	method := req.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	operation := d.paths[template].GetOperations().GetOrZero(strings.ToLower(method))
	if operation == nil {
		if a.status < 400 {
			fail("the method is not documented")
		}
		return
	}
	if req.Method == http.MethodHead { // there is no body to compare
		if operation.Responses.Codes.GetOrZero(strconv.Itoa(a.status)) == nil {
			fail("the status is not documented")
		}
		return
	}

	d.mu.Lock() // the validator is not documented to be safe for concurrent use
	defer d.mu.Unlock()
	kind := fmt.Sprint(method, " ", template, " ", a.status, " ", a.header.Get("Content-Type"))
	n := d.seen[kind]
	d.seen[kind]++
	if n >= alwaysCompared && n%thenOneOf != 0 {
		return
	}
	sent := req.Clone(req.Context())
	sent.URL.Path = path
	sent.Body = io.NopCloser(strings.NewReader(body))
	if body != "" && sent.Header.Get("Content-Type") == "" {
		sent.Header.Set("Content-Type", jsonType) // what it is read as
	}
	got := &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
		Request: sent}
	if a.status < 300 {
		if ok, errs := d.validator.ValidateHttpRequestSync(sent); !ok {
			for _, err := range errs {
				fail("the request: " + err.Error())
			}
		}
	}
	if ok, errs := d.validator.ValidateHttpResponse(sent, got); !ok {
		for _, err := range errs {
			fail(err.Error())
		}
	}
}
