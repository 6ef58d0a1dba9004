package account

import (
	"fmt"
	"strings"
)

// Scope is one permission, as the API writes it ("DIRECTION").
type Scope string

// The scopes of the service.
const (
	ScopeTile             Scope = "TILE"
	ScopeMatrix           Scope = "MATRIX"
	ScopeONM              Scope = "ONM"
	ScopeDirection        Scope = "DIRECTION"
	ScopeTSS              Scope = "TSS"
	ScopeGeocoding        Scope = "GEOCODING"
	ScopeReverseGeocoding Scope = "REVERSEGEOCODING"
)

// AllScopes lists every scope, in the order in which sets of them are written.
var AllScopes = [...]Scope{
	ScopeTile, ScopeMatrix, ScopeONM, ScopeDirection, ScopeTSS, ScopeGeocoding, ScopeReverseGeocoding,
}

// Set returns the set with only this scope. It is empty for an unknown scope.
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

// ScopeSet is a set of scopes, one bit each.
type ScopeSet uint8

// scopeNames holds the space-separated form of all sets, so that requests need not build one.
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

// String returns the scopes separated by spaces, in the order of AllScopes: the form of a JWT's scope claim (RFC 8693,
// section 4.2).
func (s ScopeSet) String() string { return scopeNames[int(s)&(len(scopeNames)-1)] }

// ParseScopeSet reads the space-separated form. An unknown scope is an error.
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
