package account

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// originPattern is an origin in the form of canonicalOrigin. If below is set, it matches origins with one or more
// labels of a host name between before and after.
type originPattern struct {
	before, after string
	below         bool
}

func (p originPattern) matches(origin string) bool {
	if !p.below {
		return origin == p.before
	}
	return len(origin) > len(p.before)+len(p.after) &&
		strings.HasPrefix(origin, p.before) && strings.HasSuffix(origin, p.after)
}

func parseOriginPattern(text string) (originPattern, error) {
	const label = "://x" // replaces the wildcard, so that the pattern can be checked as an origin
	plain := strings.Replace(text, "://*.", label+".", 1)
	origin, err := canonicalOrigin(plain, false)
	if err != nil {
		return originPattern{}, fmt.Errorf("%q %w", shortened(text), err)
	}
	if plain == text {
		return originPattern{before: origin}, nil
	}
	scheme, after, _ := strings.Cut(origin, label)
	return originPattern{before: scheme + "://", after: after, below: true}, nil
}

// maxOrigin is the length of the longest origin: a host name of 255 characters, a scheme and a port.
const maxOrigin = 320

// Errors of origins.
var (
	errOriginForm   = errors.New("is not an origin like https://app.example.com or https://*.example.com")
	errOriginLength = fmt.Errorf("is longer than %d characters", maxOrigin)
	errOriginExtra  = errors.New("has more than scheme, host and port, if only a slash at its end")
	errOriginHost   = errors.New("has a host that is no IP address and no name in ASCII (xn--…, * as its first label)")
	errOriginPort   = errors.New("has a port that is not a number from 1 to 65535")
)

// canonicalOrigin returns an origin (RFC 6454) as browsers write it: in lower case, without the default port of the
// scheme. If page is set, the text is the URL of a page, of which the path and the query are ignored.
func canonicalOrigin(text string, page bool) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Hostname() == "" {
		return "", errOriginForm
	}
	host, port := u.Hostname(), u.Port()
	number, _ := strconv.Atoi(port)
	addr, err := netip.ParseAddr(host)
	size := len(u.Scheme) + len("://") + len(u.Host)
	switch {
	case size > maxOrigin:
		return "", errOriginLength
	case !page && len(text) != size:
		return "", errOriginExtra
	case err == nil && addr.Is6() != (u.Host[0] == '['), err != nil && !isHostName(host):
		return "", errOriginHost
	case strings.HasSuffix(u.Host, ":"), strings.HasPrefix(port, "0"), number > 65535:
		return "", errOriginPort
	case err == nil && addr.Is6():
		host = "[" + addr.String() + "]"
	}
	origin := u.Scheme + "://" + strings.ToLower(host)
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return origin, nil
	}
	return origin + ":" + port, nil
}

// isHostName reports whether a text is a host name. A name whose last label is a number would be an IP address.
func isHostName(text string) bool {
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	last := ""
	for last = range strings.SplitSeq(text, ".") {
		if last == "" || strings.Trim(last, digits+letters) != "" {
			return false
		}
	}
	return strings.Trim(last, digits) != ""
}
