// Package options reads what stands in the blocks of a Caddyfile. Whatever is wrong there becomes an error with the
// file and the line, which says what was written and what may be.
package options

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// Option is what may stand in a block: a name, and what follows it.
type Option struct {
	Name string
	// Takes is what follows the name, as the documentation writes it: `<path>`. Empty for nothing.
	Takes string
	// Read reads what follows the name, which is the dispenser's current token. Its error needs neither the name nor the
	// line.
	Read func(d *caddyfile.Dispenser) error
	// Repeats is whether the option may stand more than once.
	Repeats bool
}

// Block reads the block that follows the current token, if there is one. owner is what the block belongs to, for the
// errors. Then check, if there is one, looks at what was read; its error gets the line of the option that it names, as
// At makes them, or else the owner's.
func Block(d *caddyfile.Dispenser, owner string, check func() error, known ...Option) error {
	head := *d
	if d.NextArg() {
		return At(d, fmt.Errorf("%s: unexpected argument %q", owner, d.Val()))
	}
	stands := make(map[string]caddyfile.Dispenser)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		i := slices.IndexFunc(known, func(o Option) bool { return o.Name == d.Val() })
		if i < 0 {
			return At(d, unknown(owner, d.Val(), known))
		}
		option, here := known[i], *d
		if first, twice := stands[option.Name]; twice && !option.Repeats {
			return At(d, fmt.Errorf("%s may stand only once in %s, and stands in line %d already",
				option.Name, owner, first.Line()))
		}
		stands[option.Name] = here
		if err := option.read(d); err != nil {
			return At(&here, err)
		}
	}
	if check == nil {
		return nil
	}
	err := check()
	if fault, ok := errors.AsType[*Fault](err); ok {
		if where, stands := stands[fault.Option]; stands {
			return At(&where, err)
		}
	}
	return At(&head, err)
}

func (o *Option) read(d *caddyfile.Dispenser) error {
	err := o.Read(d)
	if err == nil && d.NextArg() {
		err = ErrCount
	}
	if err == nil {
		// Read has taken the block, where there may be one.
		if after := *d; after.NextBlock(after.Nesting()) {
			return fmt.Errorf("%s takes no block", o.Name)
		}
	}
	if errors.Is(err, ErrCount) {
		return fmt.Errorf("%s: wrong argument count; write %s", o.Name, o.usage())
	}
	return Of(o.Name, err)
}

var placeholder = regexp.MustCompile("<[^>]*>")

// usage has its placeholders in capitals: the admin API escapes `<` and `>` in errors.
func (o *Option) usage() string {
	takes := placeholder.ReplaceAllStringFunc(o.Takes, func(name string) string {
		return strings.ToUpper(strings.ReplaceAll(strings.Trim(name, "<>"), " ", "_"))
	})
	return strings.TrimSpace(o.Name + " " + takes)
}

func unknown(owner, given string, known []Option) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown option of %s: %s; it has none", owner, given)
	}
	names := make([]string, len(known))
	for i, option := range known {
		names[i] = option.Name
	}
	return fmt.Errorf("unknown option of %s: %s; %s", owner, given, text.DidYouMean(given, names))
}

// ErrCount is what Read returns where too little or too much follows the name.
var ErrCount = errors.New("wrong argument count")

// Fault is something wrong with an option, by the name that it has in the Caddyfile and in JSON.
type Fault struct {
	Option string
	Err    error
}

// Error implements error.
func (f *Fault) Error() string { return f.Option + ": " + f.Err.Error() }

// Unwrap returns what is wrong.
func (f *Fault) Unwrap() error { return f.Err }

// Of says which option an error is about; nil stays nil. One that says so already, or has its line, stays as it is.
func Of(option string, err error) error {
	if _, has := errors.AsType[located](err); has || err == nil {
		return err
	}
	if fault, ok := errors.AsType[*Fault](err); ok && fault.Option == option {
		return err
	}
	return &Fault{option, err}
}

// Wrong is Of with an error that is formatted here.
func Wrong(option, format string, args ...any) error {
	return &Fault{option, fmt.Errorf(format, args...)}
}

// located is an error with a file and a line.
type located struct{ error }

// Unwrap returns the error.
func (l located) Unwrap() error { return l.error }

// At adds the file and the line of the current token to an error that has none yet; nil stays nil.
func At(d *caddyfile.Dispenser, err error) error {
	if _, has := errors.AsType[located](err); has || err == nil {
		return err
	}
	return located{d.WrapErr(err)}
}
