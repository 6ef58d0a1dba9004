package options

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// Module reads the name and the options of a module in a namespace. It returns the module, and its JSON with the name
// under key.
func Module(d *caddyfile.Dispenser, namespace, key string) (any, json.RawMessage, error) {
	if !d.NextArg() {
		return nil, nil, ErrCount
	}
	name := d.Val()
	if _, err := caddy.GetModule(namespace + "." + name); err != nil {
		return nil, nil, fmt.Errorf("%q is not known; %s", name, modulesIn(namespace, name))
	}
	module, err := caddyfile.UnmarshalModule(d, namespace+"."+name)
	if err != nil {
		return nil, nil, positioned{err} // Caddy's own errors have a line too
	}
	return module, caddyconfig.JSONModuleObject(module, key, name, nil), nil
}

// modulesIn lists the modules in a namespace, with the one first that was probably meant.
func modulesIn(namespace, given string) string {
	var names []string
	for _, module := range caddy.GetModules(namespace) {
		names = append(names, module.ID.Name())
	}
	return text.DidYouMean(given, names)
}
