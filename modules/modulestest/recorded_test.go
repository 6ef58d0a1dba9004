package modulestest

import (
	"os"
	"path/filepath"
	"testing"
)

// A recording calls its response `body` or `answer`, and what it does not say of the status is in there, or 200.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		text, path string
		status     int
		body       string
	}{
		{`{"request":"GET /a","status":404,"body":{"a":1}}`, "", 404, `{"a":1}`},
		{`{"request":{},"body":{"status_code":400}}`, "", 400, `{"status_code":400}`},
		{`{"request":{},"body":{}}`, "", 200, `{}`},
		{`{"request":{"shape":[]},"path":"/trace_route","status":400,"answer":{"error_code":158}}`,
			"/trace_route", 400, `{"error_code":158}`},
	} {
		file := filepath.Join(t.TempDir(), "recorded.json")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := ReadRecorded(t, file)
		if r.Path != tt.path || r.Status != tt.status || string(r.Body) != tt.body || len(r.Request) == 0 {
			t.Errorf("%s: %+v", tt.text, r)
		}
	}
}
