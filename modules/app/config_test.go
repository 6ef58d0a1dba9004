package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func TestCaddyfile(t *testing.T) {
	adapted, err := modulestest.Adapt("{\nmaps {" + `
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
		region dover ./data/dover.region {
			awaited
		}
		region andorra https://files.example.com/andorra.region {
			refresh 15m
			cache_dir /var/cache/maps
			header Authorization "Bearer {env.MAPS_FILES_TOKEN}"
			header X-A a
			header X-A b
			timeout 10s
			max_size 10GiB
			wait 1m
		}
		user_tokens {
			issuer https://id.example.com
			audience maps-management
			jwks_url https://id.example.com/.well-known/jwks.json
			algorithms RS256 ES256 EdDSA
			organization_claim org
			require_claim role maps-admin
			local off
			login {
				client_id console
				authorize_url https://id.example.com/authorize?prompt=login
				token_url https://id.example.com/token
				scope openid email
			}
		}` + "\n}\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(adapted, &got); err != nil {
		t.Fatal(err)
	}
	const minute, hour = 60e9, 3600e9
	if err := json.Unmarshal(fmt.Appendf(nil, `{"apps":{"maps":{
		"issuer":"https://maps.example.com","audience":"maps.example.com",
		"store":{"module":"sqlite","path":"./data/accounts.db"},
		"signing_algorithm":"ES256","key_encryption_key":"{file./run/secrets/kek}",
		"access_token_ttl":%g,"refresh_token_ttl":%g,"max_stale":%g,"max_bodies_in_flight":%d,"max_wait":500000000,
		"usage":{"hours":%g,"days":%g},
		"regions":{
			"delaware":{"path":"./data/delaware.region"},
			"dover":{"path":"./data/dover.region","awaited":true},
			"andorra":{"path":"https://files.example.com/andorra.region","refresh":%g,"cache_dir":"/var/cache/maps",
				"header":{"Authorization":["Bearer {env.MAPS_FILES_TOKEN}"],"X-A":["a","b"]},
				"timeout":10000000000,"max_size":%d,"wait":%g}
		},
		"user_tokens":{"issuer":"https://id.example.com","audience":"maps-management",
			"jwks_url":"https://id.example.com/.well-known/jwks.json","algorithms":["RS256","ES256","EdDSA"],
			"organization_claim":"org","require_claim":{"name":"role","value":"maps-admin"},"local":false,
			"login":{"client_id":"console","authorize_url":"https://id.example.com/authorize?prompt=login",
				"token_url":"https://id.example.com/token","scope":"openid email"}}
	}}}`, 15*minute, 720*hour, minute, 512<<20, 48*hour, 60*24*hour, 15*minute, 10<<30, minute), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const literal = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	t.Setenv("MAPS_TEST_KEK", strings.Repeat("0f", 32))
	t.Setenv("MAPS_TEST_ISSUER", "https://maps.example.com")
	t.Setenv("MAPS_TEST_TOKEN", "t0ken")
	t.Setenv("MAPS_TEST_URL", "https://ann:hunter2!@127.0.0.1:1/x.region")
	t.Setenv("MAPS_TEST_BROKEN_URL", "https://ann:hunter 2!@[files.example.com")
	t.Setenv("MAPS_TEST_LINES", "t0ken\nX-Other: 1")
	good := file("kek", literal+"\n")
	users := func(fields string) string {
		return `{"user_tokens":{"issuer":"https://id.example.com","audience":"m","jwks_url":"https://id.example.com/jwks"` + fields + `}}`
	}
	login := func(client, authorize, token string) string {
		return users(`,"any_user":true,"login":{"client_id":"` + client + `","authorize_url":"` + authorize + `","token_url":"` + token + `"}`)
	}
	region := func(path, fields string) string { return `{"regions":{"a":{"path":"` + path + `"` + fields + `}}}` }
	const remote, here = "https://files.example.com/x.region", "https://id.example.com/a"
	for _, tc := range []struct{ config, want string }{
		{`{}`, ""},
		{`{"key_encryption_key":"{file.` + good + `}"}`, ""},
		{`{"key_encryption_key":"{env.MAPS_TEST_KEK}"}`, ""},
		{`{"issuer":"{env.MAPS_TEST_ISSUER}","signing_algorithm":"ES256"}`, ""},
		{users(`,"require_claim":{"name":"role","value":"admin"}`), ""},
		{users(`,"any_user":true,"local":false`), ""},
		{`{"user_tokens":{"local":false}}`, ""},
		{`{"signing_algorithm":"HS256"}`, `signing_algorithm: "HS256" is not known`},
		{`{"access_token_ttl":"500ms"}`, "access_token_ttl: 500ms is not between"},
		{`{"access_token_ttl":"25h"}`, "access_token_ttl: 25h is not between"},
		{`{"usage":{"hours":"25h","days":"32d"}}`, ""},
		{`{"usage":{"days":"31d"}}`, "days: 744h is less than 768h"},
		{`{"max_stale":-5}`, "max_stale: must not be negative"},
		{`{"store":{"module":"nonsense"}}`, `store.module: "nonsense" is not known; it is one of postgres, sqlite`},
		{`{"unknown":1}`, "unknown"},
		{`{"key_encryption_key":"{file.` + good + `}x"}`, "a key written into the configuration is refused"},
		{`{"key_encryption_key":"{system.hostname}"}`, "a key written into the configuration is refused"},
		{`{"key_encryption_key":"` + literal + `"}`, "a key written into the configuration is refused"},
		{`{"key_encryption_key":"{file.` + filepath.Join(dir, "missing") + `}"}`, "is empty"},
		{`{"key_encryption_key":"{file.` + file("words", "correct horse!") + `}"}`, "must be 32 bytes in base64 or hexadecimal"},
		{users(`,"any_user":true,"require_claim":{"name":"a","value":"b"}`), "exclude each other"},
		{users(`,"require_claim":{"name":"a"}`), "needs the name of a claim and its value"},
		{users(`,"any_user":true,"algorithms":["none"]`), `algorithms: "none" is not known; it is one of`},
		{strings.ReplaceAll(users(`,"any_user":true`), "https://id.example.com", "caddy-maps"), "is the service's own issuer"},
		{strings.ReplaceAll(users(`,"any_user":true`), "https://id.example.com/jwks", "file:///etc/passwd"), "not an http or https URL"},
		{`{"user_tokens":{"issuer":"https://id.example.com","any_user":true}}`, "audience: missing"},
		{login("{env.MAPS_TEST_TOKEN}", here, here), ""},
		{login("a", "http://localhost:1/a?prompt=login", "http://[::1]:1/t"), ""},
		{login("", here, here), "login: client_id: missing"},
		{login("a", here, ""), "login: token_url: missing"},
		{login("a", here, "http://id.example.com/t"), "login: token_url: must be https"},
		{login("a", "javascript:alert(1)", here), "login: authorize_url: is not an http"},
		{login("a", here, "https://id.example.com/t#x"), "neither a user nor a fragment"},
		{login("a", "https://me@id.example.com/a", here), "neither a user nor a fragment"},
		{login("a", here, "https://id.example.com;script-src/t"), "has an invalid host"},
		{region(remote, ``), ""},
		{region("HTTP://127.0.0.1:1/bucket/x.region?X-Amz-Signature=a", `,"refresh":"10s","wait":"1h"`), ""},
		{region("{env.MAPS_TEST_URL}", `,"header":{"authorization":["Bearer {env.MAPS_TEST_TOKEN}"]}`), ""},
		{region("https://ann:{env.MAPS_TEST_TOKEN}@files.example.com/x.region", ``), ""},
		{region("{env.MAPS_TEST_BROKEN_URL}", ``), "is not a valid URL"},
		{region("s3://bucket/x.region", ``), "serve it through a gateway"},
		{region("", ``), "region a: path: "},
		{region("./x.region", `,"awaited":true`), ""},
		{region(remote, `,"awaited":true`), "awaited: only for a file of this machine"},
		{region(remote, `,"timeout":"1ms"`), "timeout: 1ms is less than 1s"},
		{region(remote, `,"max_size":-1`), "max_size: must not be negative"},
		{region(remote, `,"wait":-1`), "wait: must not be negative"},
		{region(remote, `,"cache_dir":"{no.such.thing}"`), "cache_dir:"},
		{region(remote, `,"header":{"authorization":["Bearer hunter2"]}`), "use {env.NAME}"},
		{region(remote, `,"header":{"a b":["x"]}`), "is not a valid field name"},
		{region(remote, `,"header":{"range":["bytes=0-"]}`), "Range cannot be set"},
		{region(remote, `,"header":{"x":["{env.MAPS_TEST_LINES}"]}`), "has a line break"},
	} {
		err := validate(tc.config)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", tc.config, err, tc.want)
		}
		for _, secret := range []string{literal, "correct horse", "hunter2", "hunter 2", "hunter%202", "t0ken"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows the secret: %v", tc.config, err)
			}
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
