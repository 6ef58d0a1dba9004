package command_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestUsage shows what is in a store: more than comes in one page, as a table and as CSV.
func TestUsage(t *testing.T) {
	const accounts = 1100
	now := time.Now().UTC().Truncate(time.Hour)
	file := filepath.Join(t.TempDir(), "accounts.db")
	opened, err := store.OpenSQLite(file, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	flush := usage.Flush{Node: "a", Number: 1}
	for i := range accounts {
		flush.Counts = append(flush.Counts, usage.Count{
			Subject: usage.Subject{Organization: "acme & co", Account: fmt.Sprintf("sa_%04d", i)}, Scope: account.ScopeTile,
			Start: now.Unix(), Usage: account.Usage{Requests: int64(i) + 1, Refused: 2, Errors: 1, Units: int64(i) + 5},
		})
	}
	if err := opened.AddUsage(t.Context(), flush); err != nil {
		t.Fatal(err)
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	s := modulestest.Start(t, modulestest.Config{Maps: "store sqlite " + file, Level: "INFO"})
	show := func(args ...string) (string, error) {
		t.Helper()
		line := append([]string{"usage", "--address", s.Admin, "--organization", "acme & co"}, args...)
		out, errs, err := run(t, "", line...)
		if none := strings.Contains(errs, `The organization "acme & co" has no accounts`); errs != "" && !none || none != strings.Contains(
			strings.Join(args, " "), "--to 2020-01-01") {
			t.Errorf("%q on standard error", errs)
		}
		return out, err
	}

	table, err := show()
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if err != nil || len(lines) != accounts+1 || !strings.HasPrefix(lines[0], "START ") {
		t.Fatalf("%d lines, %v: %.300s", len(lines), err, table)
	}
	for i, line := range lines {
		if len(line) != len(lines[0]) {
			t.Errorf("line %d is not as wide as the first: %q", i, line)
		}
	}
	day := now.Truncate(24 * time.Hour).Format(time.RFC3339)
	if got, want := strings.Join(strings.Fields(lines[accounts]), " "), day+" sa_1099 TILE 1100 2 1 1104"; got != want {
		t.Errorf("last line: got %s, want %s", got, want)
	}

	text, err := show("--csv", "--step", "hour")
	rows, csvErr := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || csvErr != nil || len(rows) != accounts+1 || strings.Join(rows[0], " ") !=
		"start account scope requests refused errors units" {
		t.Fatalf("%d rows, %v, %v: %.300s", len(rows), err, csvErr, text)
	}
	hour := now.Format(time.RFC3339)
	if got, want := strings.Join(rows[accounts], " "), hour+" sa_1099 TILE 1100 2 1 1104"; got != want {
		t.Errorf("last row: got %s, want %s", got, want)
	}

	for args, rows := range map[string]int{"--account sa_0007": 1, "--scope TILE --from 2020-01-01": accounts, "--to 2020-01-01": 0} {
		if out, err := show(append(strings.Fields(args), "--csv")...); err != nil || strings.Count(out, "\n") != rows+1 {
			t.Errorf("%s: %v, %.300s", args, err, out)
		}
	}
	var decoded []usage.Row
	if out, err := show("--json"); err != nil || json.Unmarshal([]byte(out), &decoded) != nil || len(decoded) != accounts {
		t.Errorf("as JSON: %v, %d rows", err, len(decoded))
	}
	_, _, err = run(t, "", "usage", "--address", s.Admin, "--organization", "acme & co", "--step", "week")
	if err == nil || !strings.Contains(err.Error(), "step: must be hour, day or month") {
		t.Errorf("a wrong step: %v", err)
	}
	if _, _, err := run(t, "", "usage"); err == nil || !strings.Contains(err.Error(), "organization") {
		t.Errorf("no organization: %v", err)
	}
}
