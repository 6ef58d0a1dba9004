package mapsapp

import "github.com/caddyserver/caddy/v2"

// resolver replaces the placeholders of a value, or takes another value that would do where they cannot be replaced
// yet.
type resolver func(value, standIn string) (string, error)

// whileLoading replaces placeholders.
func whileLoading(value, _ string) (string, error) {
	return caddy.NewReplacer().ReplaceOrErr(value, true, true)
}

// whileParsing leaves placeholders out: a Caddyfile may be read on another machine than the one that it is for.
func whileParsing(value, standIn string) (string, error) {
	if hasPlaceholder(value) {
		return standIn, nil
	}
	return value, nil
}

// someURL stands in for addresses.
const someURL = "https://example.com/"
