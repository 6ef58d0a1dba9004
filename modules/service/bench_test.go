package service_test

import (
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// BenchmarkService compares maps_service with the same handlers written by hand, over HTTP: docs/internals/benchmarks.md.
func BenchmarkService(b *testing.B) {
	file := region(b)
	for _, tc := range []struct{ name, site string }{
		{"service", "maps_service " + file + " {\nlimit client 1000000000 1s\nlimit account 1000000000 1s\n}"},
		{"by hand", `
			handle /v2/search/reverse-geocoding {
				maps_limit 1000000000 1s
				maps_auth REVERSEGEOCODING {
					api_key_query apiKey accessToken
					limit 1000000000 1s
				}
				maps_reverse_geocode {
					geocoder local ` + file + `
				}
			}
			handle /api/v1/external/* {
				maps_tokens
			}
			handle /api/v1/service-accounts {
				maps_accounts
			}
			handle_errors {
				maps_errors
			}`},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s := modulestest.Start(b, modulestest.Config{Site: tc.site, Level: "ERROR", NoAccessLog: true})
			_, token := s.Token("acme", allScopes)
			client := s.Dial(village, token)
			client.Run(1000)
			b.ReportAllocs()
			b.ResetTimer()
			client.Run(b.N)
		})
	}
}
