// Package testmodules holds types for the tests of the reference, documented and not.
package testmodules

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Sample does nothing. It has every kind of field.
//
// It has a second paragraph.
type Sample struct {
	embedded

	// A text, with a default.that has a period in it. Default: `a.b` (see c). And more.
	Text string `json:"text,omitempty"`

	// Objects. Required.
	Parts map[string]*Part `json:"parts,omitempty"`

	// Modules | of an app. Default: none.
	Raw []caddy.ModuleMap `json:"raw,omitempty" caddy:"namespace=some.where inline_key=kind"`

	// Lists. Default: none.
	Header map[string][]string `json:"header,omitempty"`

	// What is not configuration needs no name.
	hidden int
}

type embedded struct {
	// How long. Default: 10s.
	Wait *caddy.Duration `json:"wait,omitempty"`
}

type Part struct {
	// How many. Default: 0.
	Counts [][]int `json:"counts,omitempty"`
}

func (Sample) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: "some.where.sample"} }

// UnmarshalCaddyfile reads it:
//
//	sample <text> {
//	    wait <duration>
//
//	    part <name>
//	}
//
// Parts may be many. Example:
//
//	sample a {
//	wait 5s
//	}
func (s *Sample) UnmarshalCaddyfile(*caddyfile.Dispenser) error { s.hidden++; return nil }

// List is a module whose JSON is no object, and that is not in Caddyfiles. Example:
//
//	curl localhost
type List []string

func (List) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: "some.where.list"} }

type Bare struct {
	Naked string `json:"naked,omitempty"`
	// Says nothing of a default.
	Open string `json:"open,omitempty"`
	// Default: x.
	Only string `json:"only,omitempty"`
	// Has no name. Default: x.
	Nameless string
	// Fine, but its own fields are not. Required.
	Inner *BareInner `json:"inner,omitempty"`
}

type BareInner struct {
	Deep string `json:"deep,omitempty"`
}

func (*Bare) CaddyModule() caddy.ModuleInfo                 { return caddy.ModuleInfo{ID: "some.where.bare"} }
func (*Bare) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }
