package stores_test

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
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/modules/stores"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestLiteralPasswords: Caddy shows its configuration at the admin endpoint, and saves it.
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
		err := (&stores.Postgres{DSN: refused}).Provision(caddy.Context{})
		if err == nil || !strings.Contains(err.Error(), "a password written into the configuration is refused") ||
			strings.Contains(err.Error(), "hun") {
			t.Errorf("%s: error %v", refused, err)
		}
	}
	path := filepath.Join(t.TempDir(), "password")
	// With characters that would have to be escaped in a connection string.
	if err := os.WriteFile(path, []byte("a b@c/'\\%41\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ dsn, password, want string }{
		{"postgres://maps:{env.MAPS_TEST_PASSWORD}@db/maps", "", "hunter2"},
		{"postgres://db/maps?user=maps&password={env.MAPS_TEST_PASSWORD}", "", "hunter2"},
		{"host=db user=maps password={env.MAPS_TEST_PASSWORD}", "", "hunter2"},
		{"host=db user=maps password='{env.MAPS_TEST_PASSWORD}'", "", "hunter2"},
		{"postgres://maps@db/maps", "{file." + path + "}", "a b@c/'\\%41"},
	} {
		m := &stores.Postgres{DSN: tc.dsn, Password: tc.password}
		if err := m.Provision(caddy.Context{}); err != nil {
			t.Errorf("%s: error %v", tc.dsn, err)
		} else if got := m.ConnectionPassword(); got != tc.want {
			t.Errorf("%s: the password is %q", tc.dsn, got)
		}
	}
}

func TestPostgresKey(t *testing.T) {
	key := func(dsn string) string {
		m := &stores.Postgres{DSN: dsn}
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
		"unreadable": {"postgres://someuser:hunter2@:x/somebase", "cannot be used"},
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
			m := &stores.Postgres{DSN: "{env." + variable + "}"}
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
