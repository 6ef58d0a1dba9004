package app_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func adaptMaps(t *testing.T, inside string) (*app.App, error) {
	t.Helper()
	adapted, err := modulestest.Adapt("{\nmaps {\n" + inside + "\n}\n}\n")
	if err != nil {
		return nil, err
	}
	var cfg struct {
		Apps struct {
			Maps *app.App `json:"maps"`
		} `json:"apps"`
	}
	if err := json.Unmarshal(adapted, &cfg); err != nil {
		t.Fatal(err)
	}
	return cfg.Apps.Maps, nil
}

func TestCaddyfile(t *testing.T) {
	got, err := adaptMaps(t, `
		issuer https://maps.example.com
		audience maps.example.com
		store sqlite ./data/accounts.db
		signing_algorithm ES256
		key_encryption_key {file./run/secrets/kek}
		access_token_ttl 15m
		refresh_token_ttl 30d
		max_stale 60s
		max_bodies_in_flight 512MiB
		max_wait 500ms
		usage {
			hours 48h
			days 60d
		}
		region delaware ./data/delaware.region
		region andorra ./data/andorra.region
		user_tokens {
			issuer https://id.example.com
			audience maps-management
			jwks_url https://id.example.com/.well-known/jwks.json
			algorithms RS256 ES256 EdDSA
			organization_claim org
			require_claim role maps-admin
			local off
		}`)
	if err != nil {
		t.Fatal(err)
	}
	off := false
	want := &app.App{
		Issuer: "https://maps.example.com", Audience: "maps.example.com",
		StoreRaw:         json.RawMessage(`{"module":"sqlite","path":"./data/accounts.db"}`),
		SigningAlgorithm: "ES256", KeyEncryptionKey: "{file./run/secrets/kek}",
		AccessTokenTTL:  caddy.Duration(15 * time.Minute),
		RefreshTokenTTL: caddy.Duration(30 * 24 * time.Hour),
		MaxStale:        caddy.Duration(time.Minute),

		MaxBodiesInFlight: 512 << 20, MaxWait: caddy.Duration(500 * time.Millisecond),
		Usage: &app.Usage{Hours: caddy.Duration(48 * time.Hour), Days: caddy.Duration(60 * 24 * time.Hour)},
		Regions: map[string]*app.RegionConfig{
			"delaware": {Path: "./data/delaware.region"}, "andorra": {Path: "./data/andorra.region"},
		},
		UserTokens: &app.UserTokens{
			Issuer: "https://id.example.com", Audience: "maps-management", JWKSURL: "https://id.example.com/.well-known/jwks.json",
			Algorithms: []string{"RS256", "ES256", "EdDSA"}, OrganizationClaim: "org",
			RequireClaim: &app.Claim{Name: "role", Value: "maps-admin"}, Local: &off,
		},
	}
	var gotStore, wantStore map[string]string
	_ = json.Unmarshal(got.StoreRaw, &gotStore)
	_ = json.Unmarshal(want.StoreRaw, &wantStore)
	if diff := cmp.Diff(wantStore, gotStore); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(app.App{}), cmpopts.IgnoreFields(app.App{}, "StoreRaw")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := adaptMaps(t, "user_tokens {\nlocal on\n}"); err != nil || !*got.UserTokens.Local {
		t.Errorf("%+v %v", got, err)
	}
	for inside, want := range map[string]string{
		"nothing":                              "unknown option of maps: nothing",
		"issuer":                               "wrong argument count",
		"issuer a b":                           "wrong argument count",
		`issuer ""`:                            "the value is empty",
		"issuer a\nissuer b":                   "issuer may stand only once",
		"store":                                "wrong argument count",
		"store nonsense":                       "is not known",
		"store sqlite a b":                     "unexpected argument",
		"access_token_ttl":                     "wrong argument count",
		"access_token_ttl soon":                "is not a duration",
		"access_token_ttl 0s":                  "a duration must be positive",
		"max_stale -1s":                        "a duration must be positive",
		"max_wait 0s":                          "a duration must be positive",
		"max_bodies_in_flight":                 "wrong argument count",
		"max_bodies_in_flight much":            "is not a positive size",
		"max_bodies_in_flight 0":               "is not a positive size",
		"max_bodies_in_flight -1MiB":           "is not a positive size",
		"region delaware":                      "wrong argument count",
		"region a b c":                         "wrong argument count",
		"region a b\nregion a c":               "region: a is there already",
		"usage {\nweeks 1d\n}":                 "unknown option of usage: weeks",
		"usage {\nhours 0h\n}":                 "a duration must be positive",
		"usage {\nhours 30h\nhours 40h\n}":     "hours may stand only once",
		"user_tokens x {\n}":                   "unexpected argument",
		"user_tokens {\nsecret x\n}":           "unknown option of user_tokens: secret",
		"user_tokens {\nalgorithms\n}":         "wrong argument count",
		"user_tokens {\nrequire_claim a\n}":    "wrong argument count",
		"user_tokens {\nany_user yes\n}":       "wrong argument count",
		"user_tokens {\nlocal maybe\n}":        "it is on or off, not maybe",
		"user_tokens {\nissuer a\nissuer a\n}": "issuer may stand only once",
	} {
		_, err := adaptMaps(t, inside)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) || !strings.Contains(err.Error(), "Caddyfile:") {
			t.Errorf("%q: got %v, want %q with file and line", inside, err, want)
		}
	}
	if _, err := modulestest.Adapt("{\nmaps {\n}\nmaps {\n}\n}\n"); err == nil || !strings.Contains(err.Error(), "only once") {
		t.Errorf("two maps options: %v", err)
	}
	if _, err := modulestest.Adapt("{\nmaps x {\n}\n}\n"); err == nil {
		t.Error("an argument of maps was taken")
	}
}

func validate(config string) error {
	var cfg caddy.Config
	if err := caddy.StrictUnmarshalJSON([]byte(`{"admin":{"disabled":true},"apps":{"maps":`+config+`}}`), &cfg); err != nil {
		return err
	}
	return caddy.Validate(&cfg)
}

func TestValidation(t *testing.T) {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i * 7)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("MAPS_TEST_KEK", hex.EncodeToString(key))
	t.Setenv("MAPS_TEST_ISSUER", "https://maps.example.com")
	good := file("kek", base64.StdEncoding.EncodeToString(key)+"\n")
	const literal = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	users := func(fields string) string {
		return `{"user_tokens":{"issuer":"https://id.example.com","audience":"m","jwks_url":"https://id.example.com/jwks"` + fields + `}}`
	}
	for config, want := range map[string]string{
		`{}`: "",
		`{"key_encryption_key":"{file.` + good + `}"}`:                            "",
		`{"key_encryption_key":"{env.MAPS_TEST_KEK}"}`:                            "",
		`{"issuer":"{env.MAPS_TEST_ISSUER}","signing_algorithm":"ES256"}`:         "",
		users(`,"require_claim":{"name":"role","value":"admin"}`):                 "",
		users(`,"any_user":true,"local":false`):                                   "",
		`{"user_tokens":{"local":false}}`:                                         "",
		users(`,"any_user":true,"jwks_url":"http://id.example.com/jwks"`):         "jwks_url: must be https, except on loopback",
		`{"signing_algorithm":"RS256"}`:                                           `signing_algorithm: "RS256" is not known; did you mean ES256? It is one of EdDSA, ES256`,
		`{"signing_algorithm":"HS256"}`:                                           `signing_algorithm: "HS256" is not known`,
		`{"access_token_ttl":"500ms"}`:                                            "access_token_ttl: 500ms is not between",
		`{"access_token_ttl":"25h"}`:                                              "access_token_ttl: 25h is not between",
		`{"access_token_ttl":"1h","refresh_token_ttl":"30m"}`:                     "refresh_token_ttl: 30m is shorter than",
		`{"usage":{"hours":"25h","days":"32d"}}`:                                  "",
		`{"usage":{"hours":"24h"}}`:                                               "hours: 24h is less than 25h",
		`{"usage":{"days":"31d"}}`:                                                "days: 744h is less than 768h",
		`{"max_stale":-5}`:                                                        "max_stale: must not be negative",
		`{"issuer":"{env.MAPS_TEST_NOT_THERE}"}`:                                  "issuer:",
		`{"store":{"module":"nonsense"}}`:                                         "unknown module: maps.stores.nonsense",
		`{"unknown":1}`:                                                           "unknown",
		`{"key_encryption_key":"` + literal + `"}`:                                "a key written into the configuration is refused",
		`{"key_encryption_key":"{file.` + good + `}x"}`:                           "a key written into the configuration is refused",
		`{"key_encryption_key":"{system.hostname}"}`:                              "a key written into the configuration is refused",
		`{"key_encryption_key":"{file.` + filepath.Join(dir, "missing") + `}"}`:   "is empty",
		`{"key_encryption_key":"{file.` + file("short", "c2hvcnQ=") + `}"}`:       "holds 5 bytes, but AES-256 takes 32",
		`{"key_encryption_key":"{file.` + file("words", "correct horse!") + `}"}`: "must be 32 bytes in base64 or hexadecimal",
		users(``): "require_claim: missing",
		users(`,"any_user":true,"require_claim":{"name":"a","value":"b"}`):                                 "exclude each other",
		users(`,"require_claim":{"name":"a"}`):                                                             "needs the name of a claim and its value",
		users(`,"any_user":true,"algorithms":["HS256"]`):                                                   "algorithms: HS256 is refused",
		users(`,"any_user":true,"algorithms":["none"]`):                                                    `algorithms: "none" is not known; it is one of`,
		strings.ReplaceAll(users(`,"any_user":true`), "https://id.example.com", "caddy-maps"):              "is the service's own issuer",
		strings.ReplaceAll(users(`,"any_user":true`), "https://id.example.com/jwks", "file:///etc/passwd"): "not an http or https URL",
		`{"user_tokens":{"issuer":"https://id.example.com","any_user":true}}`:                              "audience: missing",
		`{"user_tokens":{"audience":"m","any_user":true}}`:                                                 "issuer: missing",
	} {
		err := validate(config)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", config, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), literal) || strings.Contains(err.Error(), "c2hvcnQ") || strings.Contains(err.Error(), "correct horse")) {
			t.Errorf("%s: the error shows the key: %v", config, err)
		}
	}
}

// TestKeyEncryption seals the signing keys in the store: without the key, or with another, the server does not start on
// it.
func TestKeyEncryption(t *testing.T) {
	t.Setenv("MAPS_TEST_KEK", strings.Repeat("ab", 32))
	t.Setenv("MAPS_TEST_OTHER_KEK", strings.Repeat("cd", 32))
	s := modulestest.Start(t, modulestest.Config{Site: site, Maps: "key_encryption_key {env.MAPS_TEST_KEK}"})
	_, token := s.Token("acme", "TILE")
	for _, maps := range []string{"", "key_encryption_key {env.MAPS_TEST_OTHER_KEK}"} {
		if err := s.Load(modulestest.Config{Site: site, Maps: maps}); err == nil || !strings.Contains(err.Error(), "signing key") {
			t.Errorf("%q: %v", maps, err)
		}
	}
	if a := s.Do("GET", "/guarded", token, ""); a.Status != 200 {
		t.Errorf("the old configuration: %d", a.Status)
	}
	if strings.Contains(s.Log(), strings.Repeat("ab", 32)) {
		t.Error("the log shows the key")
	}
}
