package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// httpServer is the part of a server's configuration that determines the address of a page.
type httpServer struct {
	Listen    []string          `json:"listen"`
	Routes    []httpRoute       `json:"routes"`
	TLS       []json.RawMessage `json:"tls_connection_policies"`
	AutoHTTPS struct {
		Disable bool     `json:"disable"`
		Skip    []string `json:"skip"`
	} `json:"automatic_https"`
}

type httpRoute struct {
	Match []struct {
		Host []string `json:"host"`
	} `json:"match"`
	Handle []struct {
		Handler string      `json:"handler"`
		Prefix  string      `json:"prefix"`
		Routes  []httpRoute `json:"routes"`
	} `json:"handle"`
}

var errNoConsole = errors.New("no server of the running configuration has maps_console at a known " +
	"address; add the directive, or set the address with --base")

// consoleAddress derives the console's address from Caddy's configuration, without a slash at the end.
func consoleAddress(servers map[string]httpServer) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		if host, prefix, found := findConsole(s.Routes, ""); found {
			if base := s.base(host); base != "" {
				return base + prefix, nil
			}
		}
	}
	return "", errNoConsole
}

// findConsole returns the path of the first console in routes, and its host, "" for any.
func findConsole(routes []httpRoute, host string) (_, prefix string, found bool) {
	for _, route := range routes {
		here := host
		for _, match := range route.Match {
			for _, name := range match.Host {
				if here == "" && !strings.ContainsAny(name, "*{") {
					here = name
				}
			}
		}
		for _, handler := range route.Handle {
			if handler.Handler == "maps_console" {
				return here, strings.TrimSuffix(cmp.Or(handler.Prefix, "/console"), "/"), true
			}
			if at, prefix, found := findConsole(handler.Routes, here); found {
				return at, prefix, true
			}
		}
	}
	return "", "", false
}

// base is the origin of a server for a host, or "" if a browser cannot open it, as with a Unix socket.
func (s httpServer) base(host string) string {
	for _, listen := range s.Listen {
		address, err := caddy.ParseNetworkAddress(listen)
		if err != nil || address.IsUnixNetwork() || address.IsFdNetwork() || address.StartPort == 0 {
			continue
		}
		secure := len(s.TLS) > 0 || address.StartPort == 443 ||
			host != "" && address.StartPort != 80 && !s.AutoHTTPS.Disable && !slices.Contains(s.AutoHTTPS.Skip, host)
		scheme, usual := "http", uint(80)
		if secure {
			scheme, usual = "https", 443
		}
		name := cmp.Or(host, address.Host)
		if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
			name = "localhost"
		}
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		if address.StartPort != usual {
			name = fmt.Sprintf("%s:%d", name, address.StartPort)
		}
		return scheme + "://" + name
	}
	return ""
}

// checkBase validates the flag --base.
func checkBase(base string) error {
	where, err := url.Parse(base)
	if err != nil || where.Host == "" || where.Scheme != "http" && where.Scheme != "https" ||
		where.RawQuery != "" || where.Fragment != "" {
		return usagef("--base: must be the address that the site has in a browser, such as https://maps.example.com")
	}
	return nil
}
