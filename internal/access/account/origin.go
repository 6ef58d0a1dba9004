package account

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// originPattern is an origin as canonicalOrigin writes it. Where below is set, one label or more of a host name stand
// between before and after.
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
	const label = "://x" // for the wildcard: what is below an origin is an origin
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

// maxOrigin is the length of the longest origin: that of the longest host name, 255, and a scheme and a port.
const maxOrigin = 320

// What is wrong with an origin.
var (
	errOriginForm   = errors.New("is not an origin like https://app.example.com or https://*.example.com")
	errOriginLength = fmt.Errorf("is longer than %d characters", maxOrigin)
	errOriginExtra  = errors.New("has more than scheme, host and port, if only a slash at its end")
	errOriginHost   = errors.New("has a host that is no IP address and no name in ASCII (xn--…, * as its first label)")
	errOriginPort   = errors.New("has a port that is not a number from 1 to 65535")
)

// canonicalOrigin returns the scheme, host and port of a page (RFC 6454) as browsers write them: in lower case, without
// the scheme's own port. Where text may be the address of a page, the rest of it is ignored.
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

// isHostName reports whether a text is a name of labels. One whose last label is a number would be an IP address.
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
