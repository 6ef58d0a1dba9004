package remote

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Keep-alive is turned off where nothing is said of it, and whatever else is said stays.
func TestFreshConnections(t *testing.T) {
	for _, tt := range []struct{ transport, want string }{
		{``, `{"protocol":"http","keep_alive":{"enabled":false}}`},
		{`{"protocol":"http"}`, `{"protocol":"http","keep_alive":{"enabled":false}}`},
		{`{"dial_timeout":1,"protocol":"http","tls":{}}`,
			`{"dial_timeout":1,"protocol":"http","tls":{},"keep_alive":{"enabled":false}}`},
		{`{"protocol":"http","keep_alive":null}`, `{"protocol":"http","keep_alive":{"enabled":false}}`},
		{`{"protocol":"http","keep_alive":{"idle_timeout":120}}`, `{"protocol":"http","keep_alive":{"idle_timeout":120}}`},
		{`{"protocol":"http","keep_alive":{"enabled":false}}`, `{"protocol":"http","keep_alive":{"enabled":false}}`},
		{`{"protocol":"http","keep_alive":{"probe_interval":5}}`,
			`{"protocol":"http","keep_alive":{"enabled":false,"probe_interval":5}}`},
		{`{"protocol":"http","keep_alive":{"enabled":true,"probe_interval":5}}`,
			`{"protocol":"http","keep_alive":{"enabled":true,"probe_interval":5}}`},
		{`{"protocol":"fastcgi","root":"/srv"}`, `{"protocol":"fastcgi","root":"/srv"}`},
	} {
		got, err := freshConnections(json.RawMessage(tt.transport))
		if err != nil {
			t.Errorf("%s: %v", tt.transport, err)
			continue
		}
		var is, want any
		if err := json.Unmarshal(got, &is); err != nil {
			t.Errorf("%s: %v", tt.transport, err)
		}
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(is, want) {
			t.Errorf("%s: %s, want %s", tt.transport, got, tt.want)
		}
	}
	for _, transport := range []string{`[]`, `{"protocol":"http","keep_alive":2}`} {
		if got, err := freshConnections(json.RawMessage(transport)); err == nil {
			t.Errorf("%s: %s", transport, got)
		}
	}
}
