// Package options reads the options in blocks of Caddyfiles. Every error has the file and the line, and says what was
// written and what is allowed.
//
// It knows no directive: modules list their options. Start reading at Block; the readers of values are in values.go.
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

// Option is an option of a block: a name and its arguments.
type Option struct {
	Name string
	// Args are the arguments as the documentation writes them, such as `<path>`; empty for none.
	Args string
	// Read reads the arguments. The dispenser's current token is the name. Its error needs neither the name nor the line.
	Read func(d *caddyfile.Dispenser) error
	// Repeats is whether the option may appear more than once.
	Repeats bool
}

// Block reads the block after the current token, if there is one. owner names the block in errors. Then check, if not
// nil, validates the values. If its error is an Error, it gets the line of that option, otherwise the line of the
// owner.
func Block(d *caddyfile.Dispenser, owner string, check func() error, known ...Option) error {
	head := *d
	Remember(d, owner)
	if d.NextArg() {
		return WithLine(d, fmt.Errorf("%s: unexpected argument %q", owner, d.Val()))
	}
	seen := make(map[string]caddyfile.Dispenser)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		i := slices.IndexFunc(known, func(o Option) bool { return o.Name == d.Val() })
		if i < 0 {
			return WithLine(d, unknown(owner, d.Val(), known))
		}
		option, here := known[i], *d
		if first, twice := seen[option.Name]; twice && !option.Repeats {
			return WithLine(d, fmt.Errorf("%s may appear only once in %s; it is already in line %d",
				option.Name, owner, first.Line()))
		}
		seen[option.Name] = here
		Remember(d, owner+" "+option.Name)
		if err := option.read(d); err != nil {
			return WithLine(&here, err)
		}
	}
	if check == nil {
		return nil
	}
	err := check()
	if fault, ok := errors.AsType[*Error](err); ok {
		if where, ok := seen[fault.Option]; ok {
			return WithLine(&where, err)
		}
	}
	return WithLine(&head, err)
}

func (o *Option) read(d *caddyfile.Dispenser) error {
	err := o.Read(d)
	if err == nil && d.NextArg() {
		err = ErrCount
	}
	if err == nil {
		// Read has consumed the block of an option that has one.
		if after := *d; after.NextBlock(after.Nesting()) {
			return fmt.Errorf("%s takes no block", o.Name)
		}
	}
	if errors.Is(err, ErrCount) {
		return fmt.Errorf("%s: wrong argument count; write %s", o.Name, o.usage())
	}
	return Wrap(o.Name, err)
}

var placeholder = regexp.MustCompile("<[^>]*>")

// usage has placeholders in capitals, because the admin API escapes `<` and `>` in errors.
func (o *Option) usage() string {
	takes := placeholder.ReplaceAllStringFunc(o.Args, func(name string) string {
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
	hint := text.DidYouMean(given, names)
	if strings.HasPrefix(given, "maps_") || strings.HasPrefix(given, "handle") {
		hint += "; is a closing brace missing above?"
	}
	return fmt.Errorf("unknown option of %s: %s; %s", owner, given, hint)
}

// ErrCount is returned by Read for too few or too many arguments.
var ErrCount = errors.New("wrong argument count")

// Error is an error of an option. The name is the same in the Caddyfile and in JSON.
type Error struct {
	Option string
	Err    error
}

// Error implements error.
func (e *Error) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap returns the error without the name.
func (e *Error) Unwrap() error { return e.Err }

// Wrap adds the name of the option to an error, unless it has one or a line already. nil stays nil.
func Wrap(option string, err error) error {
	if _, has := errors.AsType[positioned](err); has || err == nil {
		return err
	}
	if fault, ok := errors.AsType[*Error](err); ok && fault.Option == option {
		return err
	}
	return &Error{option, err}
}

// Errorf returns an Error with a formatted error.
func Errorf(option, format string, args ...any) error {
	return &Error{option, fmt.Errorf(format, args...)}
}

// positioned is an error with a file and a line.
type positioned struct{ error }

// Unwrap returns the error.
func (l positioned) Unwrap() error { return l.error }

// WithLine adds the file and the line of the current token to an error without them. nil stays nil.
func WithLine(d *caddyfile.Dispenser, err error) error {
	if _, has := errors.AsType[positioned](err); has || err == nil {
		return err
	}
	return positioned{d.WrapErr(err)}
}
