package account

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Restrictions limit where an account's access tokens can be used from. They are no protection against an attacker,
// since any program can send any Origin header; they keep a token that others copied from working on their pages.
type Restrictions struct {
	// Origins are origins of web pages, such as https://app.example.com, or https://*.example.com for all subdomains of
	// example.com. If empty, requests from all origins, and without one, are allowed.
	Origins []string `json:"origins"`
	// Networks are IP addresses, and networks in CIDR notation. If empty, all addresses are allowed.
	Networks []string `json:"networks"`
}

// MaxRestrictions is the maximum number of origins, and of networks, of an account.
const MaxRestrictions = 100

// MarshalJSON writes empty lists as [].
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

// CompiledRestrictions are Restrictions prepared for comparing requests with them. They are immutable.
type CompiledRestrictions struct {
	origins  []originPattern
	networks []netip.Prefix
	also     *CompiledRestrictions // must allow a request too
}

// Compile returns nil if nothing is restricted. The error names the element that is wrong.
func (r Restrictions) Compile() (*CompiledRestrictions, error) {
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
	return &CompiledRestrictions{origins: origins, networks: networks}, nil
}

// And returns restrictions that allow what both allow. c must not be nil.
func (c *CompiledRestrictions) And(other *CompiledRestrictions) *CompiledRestrictions {
	return &CompiledRestrictions{origins: c.origins, networks: c.networks, also: other}
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

// Violation is the reason why restrictions do not allow a request; empty if they do.
type Violation string

// The violations. Only operators see them.
const (
	ViolationNoOrigin Violation = "no origin where origins are restricted"
	ViolationOrigin   Violation = "origin not allowed"
	ViolationNetwork  Violation = "network not allowed"
)

// Check compares a request's Origin header, or else the origin of its Referer, and its client's address with the
// restrictions. A header that is absent is empty. Nil restrictions allow everything. It does not allocate if the origin
// is written as browsers do and as in the restrictions.
func (c *CompiledRestrictions) Check(origin, referer string, client netip.Addr) Violation {
	for ; c != nil; c = c.also {
		if why := c.check(origin, referer, client); why != "" {
			return why
		}
	}
	return ""
}

func (c *CompiledRestrictions) check(origin, referer string, client netip.Addr) Violation {
	if len(c.networks) > 0 && !c.allowsClient(client) {
		return ViolationNetwork
	}
	if len(c.origins) == 0 {
		return ""
	}
	page := origin == ""
	if page {
		origin = referer
	}
	switch {
	case origin == "":
		return ViolationNoOrigin
	case slices.Contains(c.origins, originPattern{before: origin}):
		return ""
	}
	from, err := canonicalOrigin(origin, page)
	if err != nil || !slices.ContainsFunc(c.origins, func(p originPattern) bool { return p.matches(from) }) {
		return ViolationOrigin
	}
	return ""
}

func (c *CompiledRestrictions) allowsClient(client netip.Addr) bool {
	client = client.Unmap().WithZone("")
	for _, network := range c.networks {
		if network.Contains(client) {
			return true
		}
	}
	return false
}

// parseNetwork reads a network or one address. IPv4 addresses in IPv6 form become IPv4, like those of clients.
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

// shortened bounds the length of an input that is repeated in an error.
func shortened(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
