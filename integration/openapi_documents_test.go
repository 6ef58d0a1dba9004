package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/pb33f/libopenapi/orderedmap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	_ "github.com/mapsedge/caddy-maps/modules/access" // it has endpoints of the admin API, as modules/routing
	"github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/routing"
)

// The documents are valid OpenAPI 3.1, have every endpoint of the service, and can be made clients from: every
// operation has a name of its own.
func TestOpenAPIDocuments(t *testing.T) {
	leaveOut(t, "checks documents")
	t.Parallel()
	public, err := publicAPI()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := adminAPI()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"get /api/v1/external/jwks.json", "post /api/v1/external/auth", "post /api/v1/external/refresh",
		"post /api/v1/external/auth/refresh", "post /api/v1/external/revoke", "post /api/v1/external/token",
		"get /api/v1/service-accounts", "post /api/v1/service-accounts",
		"get /api/v1/service-accounts/usage",
		"get /api/v1/service-accounts/{id}", "patch /api/v1/service-accounts/{id}", "delete /api/v1/service-accounts/{id}",
		"get /api/v1/service-accounts/{id}/keys", "post /api/v1/service-accounts/{id}/keys",
		"delete /api/v1/service-accounts/{id}/keys/{key}",
		"get /v2/search/geocode", "get /api/v1/route/geocoding", "get /api/v1/route/revgeocoding",
		"get /v2/search/reverse-geocoding", "get /v2/search/coverage", "get /api/route/matching",
		"post /api/route/matching", "get /healthz",
		"get /api/v1/route", "post /api/v1/route", "get /api/v1/isochrone",
		"get /api/route/direction", "post /api/route/direction", "get /api/route/matrix", "post /api/route/matrix",
		"get /api/route/onm", "post /api/route/onm", "get /api/route/tss", "post /api/route/tss",
		"get /route/v1/{profile}/{coordinates}", "get /table/v1/{profile}/{coordinates}",
		"get /nearest/v1/{profile}/{coordinates}", "get /trip/v1/{profile}/{coordinates}",
		"get /match/v1/{profile}/{coordinates}",
		"get /photon/api", "get /photon/reverse", "get /nominatim/search", "get /nominatim/reverse",
		"get /tiles/{region}/{z}/{x}/{y}.mvt", "get /tiles/{region}/network/{profile}/{z}/{x}/{y}.mvt",
		"get /tiles/{region}.json", "get /tiles/{region}/network/{profile}.json", "get /tiles/{region}/style.json",
		"post /playground/token",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, public.operations(t)); diff != "" {
		t.Errorf("the service (-want +got)\n%s", diff)
	}
	want = nil
	for _, route := range new(app.AdminAPI).Routes() {
		if route.Pattern != "/maps" && route.Pattern != "/maps/" { // those of nothing, which answer 404
			want = append(want, route.Pattern)
		}
	}
	slices.Sort(want)
	var got []string
	for _, operation := range admin.operations(t) {
		got = append(got, operation[strings.IndexByte(operation, ' ')+1:])
	}
	slices.Sort(got)
	got = slices.Compact(got) // an address may have several methods
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the admin endpoint (-want +got)\n%s", diff)
	}

	var scopes []string
	for _, scope := range public.model.Components.Schemas.GetOrZero("Scope").Schema().Examples {
		scopes = append(scopes, scope.Value)
	}
	var known []string
	for _, scope := range account.AllScopes {
		known = append(known, string(scope))
	}
	if diff := cmp.Diff(known, scopes); diff != "" {
		t.Errorf("scopes (-want +got)\n%s", diff)
	}
}

// Numbers have a format: generators of clients in Go make 32 bits of others. .ci/clients runs the generators.
func TestOpenAPIForGenerators(t *testing.T) {
	leaveOut(t, "checks documents")
	t.Parallel()
	for _, name := range []string{"openapi.yaml", "openapi-admin.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		// A number without a format becomes one of 32 bits in Go.
		numbers := regexp.MustCompile(`type: (number|\[number, "null"\])`).FindAllIndex(text, -1)
		doubles := regexp.MustCompile(`type: (number|\[number, "null"\])(, |\n +)format: double`).FindAllIndex(text, -1)
		if len(numbers) < 2 || len(numbers) != len(doubles) {
			t.Errorf("%s: of %d numbers %d are doubles", name, len(numbers), len(doubles))
		}
	}
}

// operations lists methods and paths, and checks the document itself.
func (d *description) operations(t *testing.T) (all []string) {
	t.Helper()
	if ok, errs := d.validator.ValidateDocument(); !ok {
		for _, err := range errs {
			t.Errorf("%s: %v", d.model.Info.Title, err)
		}
	}
	if !strings.HasPrefix(d.model.Version, "3.1.") {
		t.Errorf("%s is of OpenAPI %s", d.model.Info.Title, d.model.Version)
	}
	ids := make(map[string]bool)
	for path, item := range d.paths {
		for method, operation := range item.GetOperations().FromOldest() {
			all = append(all, method+" "+path)
			id := operation.OperationId
			if id == "" || ids[id] || operation.Summary == "" || len(operation.Tags) != 1 {
				t.Errorf("%s %s: the operation %q needs a name of its own, a summary and a tag", method, path, id)
			}
			ids[id] = true
			// The reference shows operations of maps by their scope.
			scope, scoped := operation.Extensions.Get("x-scope")
			if scoped != (operation.Tags[0] == "Maps") || scoped && account.Scope(scope.Value).Set() == 0 {
				t.Errorf("%s %s: x-scope is %v", method, path, scope)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Every example of a body is one that its schema allows.
func TestOpenAPIExamples(t *testing.T) {
	leaveOut(t, "checks documents")
	t.Parallel()
	for _, api := range []func() (*description, error){publicAPI, adminAPI} {
		d, err := api()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		d.mu.Lock() // the validator writes into the schemas
		for path, item := range d.paths {
			for method, operation := range item.GetOperations().FromOldest() {
				if operation.RequestBody != nil {
					n += checkExamples(t, method+" "+path, operation.RequestBody.Content)
				}
				for status, response := range operation.Responses.Codes.FromOldest() {
					n += checkExamples(t, method+" "+path+" "+status, response.Content)
				}
			}
		}
		d.mu.Unlock()
		if n < 20 {
			t.Errorf("%s has %d examples", d.model.Info.Title, n)
		}
	}
}

// checkExamples compares the examples of JSON bodies with their schemas, and tells how many there are.
func checkExamples(t *testing.T, where string, content *orderedmap.Map[string, *v3.MediaType]) (n int) {
	t.Helper()
	schemas := schema_validation.NewSchemaValidator()
	for name, media := range content.FromOldest() {
		if media.Example == nil || !strings.Contains(name, "json") {
			continue
		}
		n++
		var value any
		if err := media.Example.Decode(&value); err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if ok, errs := schemas.ValidateSchemaBytes(media.Schema.Schema(), data); !ok {
			for _, err := range errs {
				t.Errorf("%s: the example of %s: %v", where, name, err)
			}
		}
	}
	return n
}
