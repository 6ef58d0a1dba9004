package command

import (
	"bytes"
	"testing"
	"time"
)

// The remaining time counts the stages to come, by their shares.
func TestProgressTimeLeft(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, map[string]float64{"short": 1, "long": 3})
	p.every, p.began = 0, time.Now().Add(-10*time.Second)
	for _, tc := range []struct {
		stage       string
		done, total int64
		want        string
	}{
		{"short", 0, 100, "0%, time left unknown (short, "},
		{"short", 50, 100, "12%, about 1m10s left (short, "},
		{"short", 100, 100, "short: done in 0s\n"},
		{"long", 0, 100, "25%, about 30s left (long, "},
		{"long", 50, 100, "62%, about 6s left (long, "},
		{"long", 100, 100, "long: done in 0s\n"},
	} {
		out.Reset()
		if p.update(tc.stage, tc.done, tc.total); !bytes.HasPrefix(out.Bytes(), []byte(tc.want)) {
			t.Errorf("%s %d: got %q, want %q", tc.stage, tc.done, &out, tc.want)
		}
	}
	for part, want := range map[float64]string{0.5: "about 2h00m left", 0.9: "about 13m left", 0.999: "about 7s left"} {
		if got := timeLeft(2*time.Hour, part); got != want {
			t.Errorf("%v: got %s, want %s", part, got, want)
		}
	}
}
