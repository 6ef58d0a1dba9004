package options

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// written has the files and lines of the blocks and options in the Caddyfile that this process has adapted last, such
// as "maps_tiles" and "maps key_encryption_key". The JSON of a configuration has no lines, so errors that are found
// when it is loaded would not name any.
var written struct {
	sync.Mutex
	at map[string][]string
}

// Remember records the file and the line of the current token for a block or an option.
func Remember(d *caddyfile.Dispenser, what string) {
	written.Lock()
	defer written.Unlock()
	if written.at == nil {
		written.at = make(map[string][]string)
	}
	if where := fmt.Sprintf("%s:%d", d.File(), d.Line()); !slices.Contains(written.at[what], where) {
		written.at[what] = append(written.at[what], where)
	}
}

// Forget must be called before a Caddyfile is adapted, and once its configuration runs or is refused, since the next
// configuration may arrive as JSON.
func Forget() {
	written.Lock()
	defer written.Unlock()
	clear(written.at)
}

// Located adds to an error of a block the file and the line of the option that it names, or else of the block. If a
// Caddyfile has several of these, it adds each. nil stays nil.
func Located(block string, err error) error {
	if err == nil {
		return nil
	}
	written.Lock()
	defer written.Unlock()
	at := written.at[block]
	for fault, ok := errors.AsType[*Error](err); ok; fault, ok = errors.AsType[*Error](fault.Err) {
		for _, what := range []string{block + " " + fault.Option, fault.Option} {
			if found := written.at[what]; found != nil {
				at = found
				break
			}
		}
		block = fault.Option
	}
	if at == nil {
		return err
	}
	return fmt.Errorf("%w, at %s", err, strings.Join(at, " or "))
}

// Replace replaces the placeholders in a value. The error says how to set one that is empty.
func Replace(value string) (string, error) {
	return caddy.NewReplacer().ReplaceFunc(value, func(name string, found any) (any, error) {
		if found != nil && found != "" {
			return found, nil
		}
		if variable, ok := strings.CutPrefix(name, "env."); ok {
			return nil, fmt.Errorf("{%s} is empty; set the environment variable %s", name, variable)
		}
		if file, ok := strings.CutPrefix(name, "file."); ok {
			return nil, fmt.Errorf("{%s} is empty; the file %s is missing, unreadable or empty", name, file)
		}
		return nil, fmt.Errorf("{%s} has no value here; use {env.NAME} or {file./path/to/file}", name)
	})
}
