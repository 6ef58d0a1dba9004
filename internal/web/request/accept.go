// Package accept reads what a client accepts.
package request

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// AcceptsGzip reports whether a client wants what can be had compressed by gzip that way: it names gzip in Accept-Encoding,
// and does not like it less as it is.
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

// PreferredType returns the media type, of those that can be had, which a client likes best; the first of them where it likes
// several the same, says nothing, or accepts none.
func PreferredType(h http.Header, offers ...string) string {
	best, most := offers[0], -1.0
	for _, offer := range offers {
		if liked := typeWeight(h["Accept"], offer); liked > most {
			best, most = offer, liked
		}
	}
	return best
}

// typeWeight is how much a client likes a media type, by the most specific range that it is in.
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

// weight is how much a client likes an encoding or a type: 1 where it does not say, 0 where it refuses it or says
// nonsense.
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
