package service_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// BenchmarkService compares maps_service with the same handlers written by hand, as in Caddyfile.example, over HTTP:
// docs/internals/benchmarks.md.
func BenchmarkService(b *testing.B) {
	file := region(b)
	example, err := os.ReadFile("../../Caddyfile.example")
	if err != nil {
		b.Fatal(err)
	}
	_, byHand, _ := strings.Cut(string(example), "\n# The same written out")
	_, byHand, _ = strings.Cut(byHand, "\n\n") // behind the address and the log
	byHand = strings.TrimSuffix(strings.TrimSpace(byHand), "}")
	byHand = regexp.MustCompile(`(limit) [0-9]+ `).ReplaceAllString(byHand, "$1 1000000000 ")
	for _, tc := range []struct{ name, site string }{
		{"service", "maps_service delaware {\nlimit client 1000000000 1s\nlimit account 1000000000 1s\n}"},
		{"by hand", byHand},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s := modulestest.Start(b, modulestest.Config{
				Maps: "region delaware " + file, Site: tc.site, Level: "ERROR", NoAccessLog: true})
			_, token := s.Token("acme", allScopes)
			client := s.Dial(village, token)
			client.Run(1000)
			b.ReportAllocs()
			b.ResetTimer()
			client.Run(b.N)
		})
	}
}
