package account

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// originPattern is an origin, or all those that end in it.
type originPattern struct {
	origin
	below bool // host is what one label or more have to stand before, and begins with a dot
}

// origin is the scheme, host and port of a page (RFC 6454), as they were written.
type origin struct{ scheme, host, port string }

func (p *originPattern) matches(o origin) bool {
	if !strings.EqualFold(p.scheme, o.scheme) || p.port != o.port {
		return false
	}
	if p.below {
		at := len(o.host) - len(p.host) // what is before it are whole labels, since p.host begins with a dot
		return at > 0 && strings.EqualFold(o.host[at:], p.host)
	}
	return strings.EqualFold(p.host, o.host)
}

func parseOriginPattern(text string) (originPattern, error) {
	const wildcard = "://*."
	plain := strings.Replace(text, wildcard, "://", 1)
	o, err := splitOrigin(plain)
	if err != nil {
		return originPattern{}, fmt.Errorf("%q %w", shortened(text), err)
	}
	addr, err := netip.ParseAddr(strings.Trim(o.host, "[]"))
	if err == nil && addr.Is6() && !addr.Is4In6() {
		o.host = "[" + addr.String() + "]" // as browsers write it
	}
	switch {
	case plain == text:
		return originPattern{origin: o}, nil
	case err == nil:
		return originPattern{}, fmt.Errorf("%q: there is nothing below an IP address", text)
	}
	o.host = "." + o.host
	return originPattern{o, true}, nil
}

// The longest name of a host, and the longest origin.
const (
	maxHost   = 255
	maxOrigin = maxHost + 64
)

// What is wrong with an origin.
var (
	errOriginForm     = errors.New("is no origin like https://app.example.com or https://*.example.com")
	errOriginLength   = fmt.Errorf("is longer than %d characters", maxOrigin)
	errOriginScheme   = errors.New("has no scheme like https")
	errOriginPath     = errors.New("has more than scheme, host and port: an origin has no path, not even a slash")
	errOriginUser     = errors.New("holds a user's name: an origin has none")
	errOriginHost     = errors.New("has a host that is none: write it in ASCII (xn--…), with * for its first label alone")
	errOriginHostLong = fmt.Errorf("has a host of more than %d characters", maxHost)
	errOriginPort     = errors.New("has a port that is no number from 1 to 65535")
)

// splitOrigin reads an origin. A port that is the scheme's own is dropped. It does not allocate.
func splitOrigin(text string) (origin, error) {
	if len(text) > maxOrigin {
		return origin{}, errOriginLength
	}
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case !ok || rest == "":
		return origin{}, errOriginForm
	case !isScheme(scheme):
		return origin{}, errOriginScheme
	case strings.ContainsAny(rest, "/?#\\"):
		return origin{}, errOriginPath
	case strings.Contains(rest, "@"):
		return origin{}, errOriginUser
	}
	host, port := rest, ""
	if at := strings.LastIndexByte(rest, ':'); at > strings.LastIndexByte(rest, ']') {
		host, port = rest[:at], rest[at+1:]
		if !isPort(port) {
			return origin{}, errOriginPort
		}
	}
	switch {
	case len(host) > maxHost:
		return origin{}, errOriginHostLong
	case !isHost(host):
		return origin{}, errOriginHost
	case port == "443" && strings.EqualFold(scheme, "https"), port == "80" && strings.EqualFold(scheme, "http"):
		port = ""
	}
	return origin{scheme, host, port}, nil
}

// originOf is the part of an address of a page that splitOrigin reads.
func originOf(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		return address[:len(address)-len(rest)+end]
	}
	return address
}

func isScheme(text string) bool {
	for i := range len(text) {
		if c := text[i]; !isLetter(c) && (i == 0 || !isDigit(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return text != ""
}

func isPort(text string) bool {
	n := 0
	for i := range len(text) {
		if !isDigit(text[i]) || i == 0 && text[i] == '0' || i == 5 {
			return false
		}
		n = n*10 + int(text[i]-'0')
	}
	return n > 0 && n <= 65535
}

// isHost reports whether a text is a name of labels, or an IP address, IPv6 in brackets.
func isHost(text string) bool {
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		return ok && err == nil && addr.Is6() && addr.Zone() == ""
	}
	label, digits := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case isDigit(c):
			label++
			digits++
		case isLetter(c), c == '-', c == '_':
			label++
		case c == '.' && label > 0:
			label, digits = 0, 0
		default:
			return false
		}
	}
	if label > 0 && digits == label { // the host is an address then, for browsers too
		_, err := netip.ParseAddr(text)
		return err == nil
	}
	return label > 0
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
