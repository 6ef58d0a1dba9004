package app

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// maxPurpose is the longest purpose of a scope, in characters.
const maxPurpose = 200

// purposes are those of the service's scopes.
var purposes = map[account.Scope]string{
	account.ScopeTile:             "the map: tiles and style",
	account.ScopeMatrix:           "travel times and distances between many places",
	account.ScopeONM:              "travel times from one place to many",
	account.ScopeDirection:        "routes, and map matching of recorded drives",
	account.ScopeTSS:              "route optimization: the best order of many stops",
	account.ScopeGeocoding:        "search and completion of names and addresses",
	account.ScopeReverseGeocoding: "what is at a position",
}

func checkScope(name, purpose string) error {
	scope := account.Scope(name)
	switch {
	case slices.Contains(account.AllScopes[:], scope):
		return fmt.Errorf("%s is a scope of the service, which needs no declaration", name)
	case !scope.WellFormed():
		return fmt.Errorf("%q is not a name for a scope: it must have 2 to 32 capital letters, digits and _, and begin "+
			"with a letter", name)
	case strings.TrimSpace(purpose) == "" || utf8.RuneCountInString(purpose) > maxPurpose ||
		strings.ContainsFunc(purpose, isControl):
		return fmt.Errorf("%s needs a purpose, a line of at most %d characters", name, maxPurpose)
	}
	return nil
}

func isControl(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// checkScopes checks the operator's own scopes.
func (a *App) checkScopes() error {
	if len(a.Scopes) > account.MaxOwnScopes {
		return fmt.Errorf("there are %d, and at most %d are possible", len(a.Scopes), account.MaxOwnScopes)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Scopes)) {
		if err := checkScope(name, a.Scopes[name]); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) unmarshalScope(d *caddyfile.Dispenser) error {
	var name, purpose string
	if !d.AllArgs(&name, &purpose) {
		return options.ErrCount
	}
	if _, twice := a.Scopes[name]; twice {
		return fmt.Errorf("%s is declared twice", name)
	}
	if a.Scopes == nil {
		a.Scopes = make(map[string]string)
	}
	a.Scopes[name] = purpose
	return checkScope(name, purpose)
}

// declareScopes makes the operator's own scopes known.
func (a *App) declareScopes() (err error) {
	var own []account.Scope
	for name := range a.Scopes {
		own = append(own, account.Scope(name))
	}
	slices.Sort(own)
	a.config.OwnScopes, err = account.DeclareScopes(own...)
	return options.Wrap("scopes", err)
}

// AllowedScopes returns the scopes that accounts of this configuration can have.
func (a *App) AllowedScopes() account.ScopeSet { return account.ServiceScopes | a.config.OwnScopes }

// ScopeNames returns the names of AllowedScopes.
func (a *App) ScopeNames() []string {
	names := make([]string, len(account.AllScopes), len(account.AllScopes)+len(a.Scopes))
	for i, scope := range account.AllScopes {
		names[i] = string(scope)
	}
	return slices.AppendSeq(names, slices.Values(slices.Sorted(maps.Keys(a.Scopes))))
}

// ScopeNamesOf returns the scopes that a directive's Caddyfile can use.
func ScopeNamesOf(h httpcaddyfile.Helper) []string {
	return globalOption(h).ScopeNames()
}

// Guard records that a handler of this configuration requires scopes. account.AnyScope means all own scopes, because
// the next handler may compare them. Handlers call it in Provision.
func (a *App) Guard(scopes account.ScopeSet) {
	if scopes == account.AnyScope {
		scopes = a.config.OwnScopes
	}
	a.guarded |= scopes
}

// ScopeUse is what pages need to know about scopes.
type ScopeUse struct {
	// Offered are the scopes that handlers require.
	Offered []OfferedScope `json:"offered"`
	// Served are those, and the scopes of handlers that are public.
	Served account.Scopes `json:"served"`
}

// OfferedScope is a scope and what it is for.
type OfferedScope struct {
	Name    account.Scope `json:"name"`
	Purpose string        `json:"purpose"`
}

// ScopeUse returns which scopes this configuration uses. If it uses none, another server probably has the handlers, and
// all are returned. Call it once the configuration runs.
func (a *App) ScopeUse() (use ScopeUse) {
	guarded, served := a.guarded, a.guarded|a.public
	if served == 0 {
		served = a.AllowedScopes()
	}
	if guarded == 0 {
		guarded = a.AllowedScopes()
	}
	for _, name := range a.ScopeNames() {
		scope := account.Scope(name)
		if served.Has(scope.Set()) {
			use.Served = append(use.Served, scope)
		}
		if guarded.Has(scope.Set()) {
			use.Offered = append(use.Offered, OfferedScope{scope, cmp.Or(purposes[scope], a.Scopes[name])})
		}
	}
	return use
}
