package app_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/app"
)

func TestLoginCaddyfile(t *testing.T) {
	got, err := adaptMaps(t, `user_tokens {
		issuer https://id.example.com
		audience console
		jwks_url https://id.example.com/jwks
		any_user
		login {
			client_id console
			authorize_url https://id.example.com/authorize?prompt=login
			token_url https://id.example.com/token
			scope openid email
		}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &app.Login{
		ClientID: "console", AuthorizeURL: "https://id.example.com/authorize?prompt=login",
		TokenURL: "https://id.example.com/token", Scope: "openid email",
	}
	if diff := cmp.Diff(want, got.UserTokens.Login); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for inside, want := range map[string]string{
		"login x {\n}":                           "unexpected argument",
		"login {\nclient_secret x\n}":            "unknown option of login: client_secret",
		"login {\nscope\n}":                      "wrong argument count",
		"login {\nclient_id a\nclient_id a\n}":   "client_id may stand only once",
		"login {\nclient_id \"\"\n}":             "the value is empty",
		"login {\ntoken_url a b\n}":              "wrong argument count",
		"login {\nclient_id a\n}":                "authorize_url: missing",
		"login {\nauthorize_url\n}\nany_user no": "wrong argument count",
	} {
		_, err := adaptMaps(t, "user_tokens {\n"+inside+"\n}")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: got %v, want %q", inside, err, want)
		}
	}
}

func TestLoginValidation(t *testing.T) {
	t.Setenv("MAPS_TEST_CLIENT", "console")
	with := func(client, authorize, token string) string {
		return `{"user_tokens":{"issuer":"https://id.example.com","audience":"m","jwks_url":"https://id.example.com/jwks",` +
			`"any_user":true,"login":{"client_id":"` + client + `","authorize_url":"` + authorize + `","token_url":"` +
			token + `"}}}`
	}
	const here = "https://id.example.com/a"
	for config, want := range map[string]string{
		with("{env.MAPS_TEST_CLIENT}", here, here):                         "",
		with("a", "http://localhost:1/a?prompt=login", "http://[::1]:1/t"): "",
		with("", here, here):                                                          "login: client_id: missing",
		with("{env.MAPS_TEST_NO_CLIENT}", here, here):                                 "login: client_id:",
		with("a", "", here):                                                           "login: authorize_url: missing",
		with("a", here, ""):                                                           "login: token_url: missing",
		with("a", "http://id.example.com/a", here):                                    "login: authorize_url: must be https",
		with("a", here, "http://id.example.com/t"):                                    "login: token_url: must be https",
		with("a", "javascript:alert(1)", here):                                        "login: authorize_url: is not an http",
		with("a", here, "/token"):                                                     "login: token_url: is not an http",
		with("a", here, "https://id.example.com/t#x"):                                 "neither a user nor a fragment",
		with("a", "https://me@id.example.com/a", here):                                "neither a user nor a fragment",
		with("a", here, "https://id.example.com;script-src/t"):                        "has a host that is none",
		`{"user_tokens":{"login":{"client_id":"a"}}}`:                                 "login: needs the issuer",
		`{"user_tokens":{"local":false,"login":{"client_id":"a","unknown_one":"b"}}}`: "unknown_one",
	} {
		err := validate(config)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", config, err, want)
		}
	}
}
