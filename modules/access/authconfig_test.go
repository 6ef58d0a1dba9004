package access_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func TestAuthCaddyfileErrors(t *testing.T) {
	for directive, want := range map[string]string{
		"maps_auth":                                         "needs at least one scope",
		"maps_auth DIRECTIONS":                              `unknown scope "DIRECTIONS"`,
		"maps_auth direction":                               `unknown scope "direction"`,
		"maps_auth TILE {\nnothing\n}":                      "unknown option of maps_auth: nothing",
		"maps_auth TILE {\nerror_style xml\n}":              `error_style: "xml" is not known`,
		"maps_auth TILE {\nerror_style\n}":                  "wrong argument count",
		"maps_auth TILE {\napi_key_query\n}":                "wrong argument count",
		"maps_auth TILE {\napi_key_query a b a\n}":          `"a" is named twice`,
		"maps_auth TILE {\napi_key_query a&b\n}":            "cannot be the name of a parameter",
		"maps_auth TILE {\nforward_token maybe\n}":          "it is on or off, not maybe",
		"maps_auth TILE {\nunits\n}":                        "wrong argument count",
		"maps_auth TILE {\nunits 5\n}":                      "is no placeholder",
		"maps_auth TILE {\ncors\n}":                         "wrong argument count",
		"maps_auth TILE {\ncors app.example.com\n}":         "is not an origin",
		"maps_auth TILE {\ncors https://a.example.com/b\n}": "is not an origin",
		"maps_auth TILE {\ncors https://a.*\n}":             "is not an origin",
	} {
		_, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) || !strings.Contains(err.Error(), "Caddyfile:") {
			t.Errorf("%q: got %v, want %q with file and line", directive, err, want)
		}
	}
	for _, directive := range []string{
		"maps_auth TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING",
		"maps_auth /a TILE {\napi_key_query apiKey key\nerror_style routing\nforward_token\ncors * https://a.example.com\n}",
		"maps_auth TILE {\nunits {http.response.header.X-Elements}\n}",
		"maps_auth TILE {\nforward_token off\ncors http://localhost:3000\n}",
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
		`{"handler":"maps_auth","scopes":["TILE"],"units":"{x"}`:            "is no placeholder",
		`{"handler":"maps_auth","scopes":["TILE"],"unknown":true}`:          "unknown",
		`{"handler":"maps_auth","scopes":["TILE"],"cors":["ftp:/x"]}`:       "is not an origin",
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

// TestDirectiveOrder holds maps_auth before whatever wants to know the account, or changes the request.
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
