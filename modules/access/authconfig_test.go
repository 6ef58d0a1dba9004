package access_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// The errors of Caddyfiles are in the table of mistakes in modules/app.
func TestAuthCaddyfile(t *testing.T) {
	for _, directive := range []string{
		"maps_auth TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING",
		"maps_auth /a TILE {\napi_key_query apiKey key\nerror_style routing\nforward_token\ncors * https://a.example.com\n}",
		"maps_auth TILE {\nforward_token off\ncors http://localhost:3000\nunits {http.response.header.X-Elements}\n}",
	} {
		if _, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n"); err != nil {
			t.Errorf("%q: %v", directive, err)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	for handler, want := range map[string]string{
		`{"handler":"maps_auth"}`:                                           "needs at least one scope",
		`{"handler":"maps_auth","scopes":["NOPE"]}`:                         `unknown scope "NOPE"`,
		`{"handler":"maps_auth","scopes":["TILE"],"error_style":"xml"}`:     `error_style: "xml" is not known`,
		`{"handler":"maps_auth","scopes":["TILE"],"unknown":true}`:          "unknown",
		`{"handler":"maps_auth","scopes":["TILE"],"api_key_query":["a=b"]}`: "cannot be the name of a parameter",
	} {
		var cfg caddy.Config
		text := `{"admin":{"disabled":true},"apps":{"http":{"servers":{"s":{"listen":["127.0.0.1:1"],"routes":[{"handle":[` + handler + `]}]}}}}}`
		err := caddy.StrictUnmarshalJSON([]byte(text), &cfg)
		if err == nil {
			err = caddy.Validate(&cfg)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", handler, err, want)
		}
	}
}

// TestDirectiveOrder: maps_auth runs before handlers that need to know the account or change the request.
func TestDirectiveOrder(t *testing.T) {
	adapted, err := modulestest.Adapt(`http://127.0.0.1:1 {
		respond "x"
		uri strip_prefix /a
		rewrite /b
		method GET
		encode
		maps_auth TILE
		basic_auth {
			a $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
		}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(adapted), `"handler":"maps_auth"`)
	for _, later := range []string{`"method":"GET"`, `"uri":"/b"`, `"strip_path_prefix"`, `"handler":"authentication"`, `"handler":"encode"`, `"handler":"static_response"`} {
		if i := strings.Index(string(adapted), later); at < 0 || i < at {
			t.Errorf("%s is before maps_auth: %s", later, adapted)
		}
	}
}
