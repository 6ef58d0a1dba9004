package account

import (
	"fmt"
	"strings"
)

// Scope is one permission of the service's scope table, written as in the API ("DIRECTION").
type Scope string

// The scopes of the service, in the order of its table.
const (
	ScopeTile             Scope = "TILE"
	ScopeMatrix           Scope = "MATRIX"
	ScopeONM              Scope = "ONM"
	ScopeDirection        Scope = "DIRECTION"
	ScopeTSS              Scope = "TSS"
	ScopeGeocoding        Scope = "GEOCODING"
	ScopeReverseGeocoding Scope = "REVERSEGEOCODING"
)

// AllScopes lists every scope of the table, in its order.
var AllScopes = [...]Scope{
	ScopeTile, ScopeMatrix, ScopeONM, ScopeDirection, ScopeTSS, ScopeGeocoding, ScopeReverseGeocoding,
}

// Set returns the set that holds this scope alone; it is empty for a scope that the table does not know.
func (s Scope) Set() ScopeSet {
	for i, known := range AllScopes {
		if s == known {
			return 1 << i
		}
	}
	return 0
}

// allScopes is the set of all of them.
const allScopes ScopeSet = 1<<len(AllScopes) - 1

// ScopeSet is a set of scopes, one bit each, so that the check on every request is an AND.
type ScopeSet uint8

// scopeNames holds every set's space-separated form: there are few enough to never build one on a request.
var scopeNames = func() (names [1 << len(AllScopes)]string) {
	for set := range names {
		var words []string
		for i, scope := range AllScopes {
			if set&(1<<i) != 0 {
				words = append(words, string(scope))
			}
		}
		names[set] = strings.Join(words, " ")
	}
	return names
}()

// Has reports whether every scope of want is in the set.
func (s ScopeSet) Has(want ScopeSet) bool { return s&want == want }

// String returns the scopes separated by spaces, in the table's order: the form of a JWT's scope claim (RFC 8693,
// section 4.2).
func (s ScopeSet) String() string { return scopeNames[int(s)&(len(scopeNames)-1)] }

// ParseScopeSet reads the space-separated form. A word that is no scope of the table is an error.
func ParseScopeSet(text string) (ScopeSet, error) {
	var set ScopeSet
	for word := range strings.FieldsSeq(text) {
		one := Scope(word).Set()
		if one == 0 {
			return 0, fmt.Errorf("unknown scope %q", word)
		}
		set |= one
	}
	return set, nil
}

// Scopes is an account's list of scopes, in the order in which its owner wrote them, without duplicates.
type Scopes []Scope

// Set returns the list as a set.
func (s Scopes) Set() ScopeSet {
	var set ScopeSet
	for _, scope := range s {
		set |= scope.Set()
	}
	return set
}

// MarshalJSON writes an empty list as [] rather than null.
func (s Scopes) MarshalJSON() ([]byte, error) {
	return marshalList([]Scope(s))
}
