// Package request reads requests: tokens, JSON bodies, query parameters, Accept headers, CORS and paths. Its limits
// bound the work and the memory for any request, and its errors can be shown to clients. It also removes tokens from
// queries and from log lines, and writes JSON responses.
//
// It does not verify tokens: package credential does. Start with token.go, body.go and query.go.
package request

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// AcceptsGzip reports whether Accept-Encoding names gzip with a weight that is not below that of identity.
func AcceptsGzip(h http.Header) bool {
	var zipped, plain float64
	for _, line := range h["Accept-Encoding"] {
		for part := range strings.SplitSeq(line, ",") {
			name, parameter, _ := strings.Cut(part, ";")
			switch name = strings.TrimSpace(name); {
			case strings.EqualFold(name, "gzip"):
				zipped = weight(parameter)
			case strings.EqualFold(name, "identity"):
				plain = weight(parameter)
			}
		}
	}
	return zipped > 0 && zipped >= plain
}

// PreferredType returns the offered media type that a client prefers. It is the first one if the client prefers
// several, has no preference, or accepts none.
func PreferredType(h http.Header, offers ...string) string {
	best, most := offers[0], -1.0
	for _, offer := range offers {
		if liked := typeWeight(h["Accept"], offer); liked > most {
			best, most = offer, liked
		}
	}
	return best
}

// typeWeight returns the weight of a media type, by its most specific range.
func typeWeight(lines []string, offer string) (liked float64) {
	group, _, _ := strings.Cut(offer, "/")
	specific := -1
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(part, ";")
			rank := slices.IndexFunc([]string{"*/*", group + "/*", offer}, func(kind string) bool {
				return strings.EqualFold(strings.TrimSpace(name), kind)
			})
			if rank > specific {
				specific, liked = rank, 1
				for parameter := range strings.SplitSeq(parameters, ";") {
					if q := strings.TrimSpace(parameter); len(q) > 1 && strings.EqualFold(q[:2], "q=") {
						liked = weight(q)
					}
				}
			}
		}
	}
	return liked
}

// weight reads a q parameter: 1 without one, 0 if it is malformed.
func weight(parameter string) float64 {
	_, q, found := strings.Cut(parameter, "=")
	if !found {
		return 1
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
	if err != nil {
		return 0
	}
	return value
}
