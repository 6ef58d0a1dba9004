package account

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// AllScopes lists every scope of the service, in the order in which sets of them are written. Operators can declare
// more.
var AllScopes = [...]Scope{
	ScopeTile, ScopeMatrix, ScopeONM, ScopeDirection, ScopeTSS, ScopeGeocoding, ScopeReverseGeocoding,
}

var scopeForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,31}$`)

// WellFormed reports whether an operator could declare the scope: 2 to 32 capital letters, digits and underscores, the
// first a letter.
func (s Scope) WellFormed() bool { return scopeForm.MatchString(string(s)) }

// ScopeSet is a set of scopes, one bit each.
type ScopeSet uint64

const (
	// ServiceScopes is the set of AllScopes.
	ServiceScopes ScopeSet = 1<<len(AllScopes) - 1
	// AnyScope counts requests for which any scope is enough. No account has it. Its name is that of EveryScope.
	AnyScope = ServiceScopes + 1
)

// MaxOwnScopes is how many scopes an operator can declare.
const MaxOwnScopes = 50

// maxKnown is the number of bits of a ScopeSet.
const maxKnown = 64

// known are the names of the bits. A name keeps its bit as long as the process runs, because cached tokens and counts
// outlive configurations.
var known atomic.Pointer[[]Scope]

var declaring sync.Mutex

func init() { known.Store(new(append(slices.Clone(AllScopes[:]), EveryScope))) }

// DeclareScopes makes scopes of the operator known, and returns their set. It returns an error if this process has seen
// too many different names.
func DeclareScopes(names ...Scope) (set ScopeSet, err error) {
	declaring.Lock()
	defer declaring.Unlock()
	all := slices.Clone(*known.Load())
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			if i = len(all); i == maxKnown {
				return 0, fmt.Errorf("there were more than %d names since the server was started; restart it",
					maxKnown-len(AllScopes)-1)
			}
			all = append(all, name)
		}
		set |= 1 << i
	}
	known.Store(&all)
	return set, nil
}

// ScopeAt returns the scope of a bit that is in a set.
func ScopeAt(bit int) Scope { return (*known.Load())[bit] }

// Set returns the set with only this scope. It is empty for a scope that is neither the service's nor declared.
func (s Scope) Set() ScopeSet {
	if i := slices.Index(*known.Load(), s); i >= 0 {
		return 1 << i
	}
	return 0
}

// scopeNames holds the space-separated form of all sets of AllScopes, so that requests need not build one.
var scopeNames = func() (names [ServiceScopes + 1]string) {
	for set := range names {
		names[set] = join(AllScopes[:], ScopeSet(set))
	}
	return names
}()

func join(names []Scope, set ScopeSet) string {
	var words []string
	for i, name := range names {
		if set&(1<<i) != 0 {
			words = append(words, string(name))
		}
	}
	return strings.Join(words, " ")
}

// Has reports whether every scope of want is in the set.
func (s ScopeSet) Has(want ScopeSet) bool { return s&want == want }

// String returns the scopes separated by spaces, those of AllScopes first: the form of a JWT's scope claim (RFC 8693,
// section 4.2).
func (s ScopeSet) String() string {
	if s <= ServiceScopes {
		return scopeNames[s]
	}
	return join(*known.Load(), s)
}

// ParseScopeSet reads the space-separated form. It leaves out scopes that are neither the service's nor declared.
func ParseScopeSet(text string) (set ScopeSet) {
	for word := range strings.FieldsSeq(text) {
		set |= Scope(word).Set()
	}
	return set
}

// Scopes is an account's list of scopes, in the order in which its owner wrote them, without duplicates. It may have
// scopes that are no longer declared.
type Scopes []Scope

// Set returns the list as a set.
func (s Scopes) Set() (set ScopeSet) {
	for _, scope := range s {
		set |= scope.Set()
	}
	return set
}

// Check refuses an empty list, duplicates, and scopes that are not allowed.
func (s Scopes) Check(allowed ScopeSet) error {
	if len(s) == 0 {
		return errors.New("must not be empty")
	}
	for i, scope := range s {
		switch set := scope.Set(); {
		case set == 0 || !allowed.Has(set):
			return fmt.Errorf("element %d is none of [%v]", i, allowed)
		case slices.Contains(s[:i], scope):
			return fmt.Errorf("%s appears more than once", scope)
		}
	}
	return nil
}

// String returns the scopes separated by spaces, in the order of the list.
func (s Scopes) String() string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

// MarshalJSON writes an empty list as [] rather than null.
func (s Scopes) MarshalJSON() ([]byte, error) {
	return marshalList([]Scope(s))
}
