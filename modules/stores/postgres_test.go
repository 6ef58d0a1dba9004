package stores

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func parse(t *testing.T, text string) (*Postgres, error) {
	t.Helper()
	m := new(Postgres)
	if err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
		return nil, err
	}
	return m, m.Provision(caddy.Context{})
}

func TestPostgresCaddyfile(t *testing.T) {
	m, err := parse(t, "postgres \"host=db user=maps\"")
	if err != nil || m.DSN != "host=db user=maps" {
		t.Errorf("%+v, error %v", m, err)
	}
	for text, want := range map[string]string{
		"postgres":                                   "needs a connection string",
		"postgres a b":                               "one connection string",
		"postgres host=db {\npassword_file\n}":       "unknown option of store postgres: password_file",
		"postgres host=db {\nsize 3\n}":              "unknown option of store postgres: size",
		"postgres host=db {\npassword hunter2\n}":    "is refused",
		`postgres ""`:                                "needs a connection string",
		"postgres postgres://db/maps?sslmode=always": "cannot be used",
		"postgres {env.MAPS_TEST_NO_SUCH_VARIABLE}":  "MAPS_TEST_NO_SUCH_VARIABLE",
	} {
		if _, err := parse(t, text); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// TestLiteralPasswords: Caddy shows its configuration to whoever asks the admin endpoint, and saves it.
func TestLiteralPasswords(t *testing.T) {
	t.Setenv("MAPS_TEST_PASSWORD", "hunter2")
	for _, refused := range []string{
		"postgres://maps:hunter2@db/maps",
		"postgresql://maps:hun:ter2@db:5432/maps",
		"postgres://maps:hun@ter/2@db/maps",
		"postgres://maps:{env.MAPS_TEST_PASSWORD}2@db/maps",
		"postgres://db/maps?user=maps&password=hunter2",
		"postgres://db/maps?sslpassword=hunter2",
		"host=db password=hunter2",
		"host=db PASSWORD = 'hunter2'",
		"password='hun\\'ter2' host=db",
	} {
		err := (&Postgres{DSN: refused}).Provision(caddy.Context{})
		if !errors.Is(err, errLiteralPassword) || strings.Contains(err.Error(), "hun") {
			t.Errorf("%s: error %v", refused, err)
		}
	}
	for _, taken := range []string{
		"postgres://maps:{env.MAPS_TEST_PASSWORD}@db/maps",
		"postgres://db/maps?user=maps&password={env.MAPS_TEST_PASSWORD}",
		"host=db user=maps password={env.MAPS_TEST_PASSWORD}",
		"host=db user=maps password='{env.MAPS_TEST_PASSWORD}'",
	} {
		m := &Postgres{DSN: taken}
		if err := m.Provision(caddy.Context{}); err != nil {
			t.Errorf("%s: error %v", taken, err)
			continue
		}
		if got := m.config.ConnConfig.Password; got != "hunter2" {
			t.Errorf("%s: the password is %q", taken, got)
		}
	}
}

func TestPasswordFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	// With signs that would have to be escaped in a connection string.
	if err := os.WriteFile(path, []byte("a b@c/'\\%41\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Postgres{DSN: "postgres://maps@db/maps", Password: "{file." + path + "}"}
	if err := m.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	if got := m.config.ConnConfig.Password; got != "a b@c/'\\%41" {
		t.Errorf("the password is %q", got)
	}
}

func TestKeys(t *testing.T) {
	key := func(dsn string) string {
		m := &Postgres{DSN: dsn}
		if err := m.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		return m.Key()
	}
	t.Setenv("MAPS_TEST_DSN", "postgres://maps:hunter2@db/maps")
	one := key("{env.MAPS_TEST_DSN}")
	if one != key("{env.MAPS_TEST_DSN}") || one == key("postgres://maps@db/maps") {
		t.Error("keys do not tell stores apart")
	}
	if strings.Contains(one, "hunter2") || strings.Contains(one, "maps") {
		t.Errorf("the key %q tells what the connection string is", one)
	}
	t.Setenv("MAPS_TEST_DSN", "postgres://maps:hunter3@db/maps")
	if one == key("{env.MAPS_TEST_DSN}") {
		t.Error("a new password is the same store")
	}
}

// TestPasswordStaysSecret fails in every way to connect. Each error gives the reason, and none the password.
func TestPasswordStaysSecret(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it is never accepted from
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	closed := refusing.Addr().String()
	refusing.Close()
	plain, err := net.Listen("tcp", "127.0.0.1:0") // no PostgreSQL
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { plain.Close() })
	go func() {
		for {
			c, err := plain.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		}
	}()
	cases := map[string][2]string{
		"refused":    {"postgres://someuser:hunter2@" + closed + "/somebase?sslmode=disable", "connection refused"},
		"silent":     {"postgres://someuser:hunter2@" + silent.Addr().String() + "/somebase?sslmode=disable", "deadline exceeded"},
		"no TLS":     {"postgres://someuser:hunter2@" + plain.Addr().String() + "/somebase?sslmode=require", "TLS"},
		"other":      {"postgres://someuser:hunter2@" + plain.Addr().String() + "/somebase?sslmode=disable", "message"},
		"no host":    {"postgres://someuser:hunter2@nowhere.invalid/somebase", ""},
		"no socket":  {"host=/nonexistent user=someuser password=hunter2 dbname=somebase", "no such file"},
		"unreadable": {"postgres://someuser:hunter2@:x/somebase", "cannot be used"},
		"half":       {"postgres://someuser:hunter2", "cannot be used"},
		"no keyword": {"someuser hunter2 somebase", "cannot be used"},
	}
	u, err := url.Parse(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/somebase"
	cases["no database"] = [2]string{u.String(), "does not exist"}
	for name, c := range cases {
		variable := "MAPS_TEST_DSN_" + strings.ReplaceAll(name, " ", "_")
		t.Setenv(variable, c[0])
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, logs := observer.New(zapcore.DebugLevel)
			m := &Postgres{DSN: "{env." + variable + "}"}
			err := m.Provision(caddy.Context{})
			if err == nil {
				ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
				defer cancel()
				_, err = m.Open(ctx, zap.New(core))
			}
			if err == nil {
				t.Fatal("opened")
			}
			said := err.Error()
			for _, e := range logs.All() {
				fields, _ := json.Marshal(e.ContextMap())
				said += e.Message + string(fields)
			}
			for inner := err; inner != nil; inner = errors.Unwrap(inner) {
				said += inner.Error()
			}
			if strings.Contains(said, "hunter2") {
				t.Errorf("the password is in %q", said)
			}
			if !strings.Contains(said, c[1]) {
				t.Errorf("%q does not say %q", said, c[1])
			}
		})
	}
}
