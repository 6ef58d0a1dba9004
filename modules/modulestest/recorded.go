package modulestest

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
)

// Recorded is a recorded exchange.
type Recorded struct {
	Request json.RawMessage `json:"request"`
	Path    string          `json:"path"`   // that was asked; empty where the request tells it
	Status  int             `json:"status"` // 0 where the body tells it
	Body    json.RawMessage `json:"body"`
}

// ReadRecorded reads a recorded exchange, whose answer is called `body` or `answer`.
func ReadRecorded(t testing.TB, file string) Recorded {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Recorded
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if r.Body == nil {
		r.Body = r.Answer
	}
	if r.Body == nil {
		t.Fatalf("%s has no response", file)
	}
	if r.Status == 0 {
		r.Status = http.StatusOK
		var body struct {
			Code int `json:"status_code"`
		}
		if json.Unmarshal(r.Body, &body) == nil && body.Code != 0 {
			r.Status = body.Code
		}
	}
	return r.Recorded
}
