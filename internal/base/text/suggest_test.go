package text

import (
	"strings"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	commands := []string{"backup", "build", "info", "match", "reverse", "tiles"}
	for _, tc := range []struct {
		given string
		known []string
		want  string
	}{
		{"buld", commands, "did you mean build? It is one of backup, build, info, match, reverse, tiles"},
		{"biuld", commands, "did you mean build? It is one of backup, build, info, match, reverse, tiles"},
		{"compile", commands, "it is one of backup, build, info, match, reverse, tiles"},
		{"tile", []string{"TILE", "MATRIX"}, "did you mean TILE? It is one of TILE, MATRIX"},
		{"delawre", []string{"delaware"}, "did you mean delaware?"},
		{"texas", []string{"delaware"}, "it can only be delaware"},
		{"", []string{"delaware"}, "it can only be delaware"},
		{"c", []string{"a", "b"}, "it is one of a, b"},
		{"A", []string{"a", "b"}, "did you mean a? It is one of a, b"},
		{"x", nil, "there is none"},
		{strings.Repeat("build", 1000), []string{"build", "info"}, "it is one of build, info"},
	} {
		if got := DidYouMean(tc.given, tc.known); got != tc.want {
			t.Errorf("%.20s: %q, want %q", tc.given, got, tc.want)
		}
	}
}
