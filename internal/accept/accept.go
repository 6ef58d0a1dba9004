// Package accept reads what a client accepts.
package accept

import (
	"net/http"
	"strconv"
	"strings"
)

// Gzip reports whether a client wants what can be had compressed by gzip that way: it names gzip in Accept-Encoding,
// and does not like it less as it is.
func Gzip(h http.Header) bool {
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

// weight is how much a client likes an encoding: 1 where it does not say, 0 where it refuses it or says nonsense.
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
