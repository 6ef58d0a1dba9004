package account

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Restrictions say from where an account's access tokens may be used. They keep a token that got into other hands from
// being of use there by accident; an Origin header can be made up by any program, so they are no secret and no proof.
type Restrictions struct {
	// Origins are origins of web pages, https://app.example.com, or https://*.example.com for one label and more below
	// example.com. Empty allows requests from anywhere.
	Origins []string `json:"origins"`
	// Networks are IP addresses and networks in CIDR notation. Empty allows all.
	Networks []string `json:"networks"`
}

// MaxRestrictions is how many origins, and how many networks, an account may have.
const MaxRestrictions = 100

// MarshalJSON writes both lists, as [] where they are empty.
func (r Restrictions) MarshalJSON() ([]byte, error) {
	type plain Restrictions // without this method
	if r.Origins == nil {
		r.Origins = []string{}
	}
	if r.Networks == nil {
		r.Networks = []string{}
	}
	return json.Marshal(plain(r))
}

// Empty reports whether nothing is restricted.
func (r Restrictions) Empty() bool { return len(r.Origins) == 0 && len(r.Networks) == 0 }

// Bounds are Restrictions in the form in which requests are compared with them. They never change.
type Bounds struct {
	origins  []originPattern
	networks []netip.Prefix
}

// NewBounds returns nil where nothing is restricted. The error names the element that is wrong.
func NewBounds(r Restrictions) (*Bounds, error) {
	if r.Empty() {
		return nil, nil
	}
	origins, err := parseEach("origins", r.Origins, parseOriginPattern)
	if err != nil {
		return nil, err
	}
	networks, err := parseEach("networks", r.Networks, parseNetwork)
	if err != nil {
		return nil, err
	}
	return &Bounds{origins, networks}, nil
}

func parseEach[T any](field string, list []string, parse func(string) (T, error)) ([]T, error) {
	if len(list) > MaxRestrictions {
		return nil, fmt.Errorf("%s: must be at most %d", field, MaxRestrictions)
	}
	parsed := make([]T, len(list))
	for i, text := range list {
		var err error
		if parsed[i], err = parse(text); err != nil {
			return nil, fmt.Errorf("%s: element %d: %w", field, i, err)
		}
	}
	return parsed, nil
}

// Outside is why a request is out of bounds; empty where it is not.
type Outside string

// The reasons. Only the operator sees them.
const (
	OutsideNoOrigin Outside = "no origin where origins are restricted"
	OutsideOrigin   Outside = "origin not allowed"
	OutsideNetwork  Outside = "network not allowed"
)

// Allow compares where a request comes from: its Origin header, else the origin of its Referer, each empty where it is
// absent, and its client's address. An origin as the restrictions have it, and as browsers write it, costs no
// allocation. nil allows everything.
func (b *Bounds) Allow(origin, referer string, client netip.Addr) Outside {
	if b == nil {
		return ""
	}
	if len(b.networks) > 0 && !b.allowsClient(client) {
		return OutsideNetwork
	}
	if len(b.origins) == 0 {
		return ""
	}
	page := origin == ""
	if page {
		origin = referer
	}
	switch {
	case origin == "":
		return OutsideNoOrigin
	case slices.Contains(b.origins, originPattern{before: origin}):
		return ""
	}
	from, err := canonicalOrigin(origin, page)
	if err != nil || !slices.ContainsFunc(b.origins, func(p originPattern) bool { return p.matches(from) }) {
		return OutsideOrigin
	}
	return ""
}

func (b *Bounds) allowsClient(client netip.Addr) bool {
	client = client.Unmap().WithZone("")
	for _, network := range b.networks {
		if network.Contains(client) {
			return true
		}
	}
	return false
}

// parseNetwork reads a network or one address. IPv4 in its IPv6 form becomes IPv4, as the addresses of clients do.
func parseNetwork(text string) (netip.Prefix, error) {
	var none netip.Prefix
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return none, fmt.Errorf("%q is no IP address, nor a network like 203.0.113.0/24", shortened(text))
		case addr.Zone() != "":
			return none, fmt.Errorf("%q: a zone means something on one machine only", shortened(text))
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return none, fmt.Errorf("%q is no network like 203.0.113.0/24 or 2001:db8::/32", shortened(text))
	}
	if network.Addr().Is4In6() {
		const mapped = 96 // bits before the IPv4 address
		if network.Bits() < mapped {
			return none, fmt.Errorf("%q: a network of IPv4 addresses in their IPv6 form has 96 bits or more", text)
		}
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
	}
	if network != network.Masked() {
		return none, fmt.Errorf("%q has bits set after the prefix: did you mean %v?", text, network.Masked())
	}
	return network, nil
}

// shortened keeps an error from repeating a long input.
func shortened(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
