package stores

import (
	"errors"
	"regexp"
	"strings"
)

var errLiteralPassword = errors.New("a password written into the configuration is refused, because Caddy shows and " +
	"saves its configuration; use {env.NAME} for the whole connection string, or the option password with " +
	"{file./path/to/password}")

var (
	// onePlaceholder is a value that is nothing but a placeholder whose secret stands elsewhere.
	onePlaceholder = regexp.MustCompile(`^\{(file|env)\.[^{}]+\}$`)
	// passwordKeyword finds passwords among keywords and in the query of a URL.
	passwordKeyword = regexp.MustCompile(`(?i)(?:^|[\s?&])(?:ssl)?password\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]*)`)
)

// refuseLiteralPassword looks for a password in a connection string whose placeholders have not been replaced.
func refuseLiteralPassword(raw string) error {
	for _, found := range passwordKeyword.FindAllStringSubmatch(raw, -1) {
		if value := strings.Trim(found[1], "'"); value != "" && !onePlaceholder.MatchString(value) {
			return errLiteralPassword
		}
	}
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil
	}
	// The last @ of all: a password that was not encoded may hold any of the signs that end it.
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	_, password, _ := strings.Cut(rest[:at], ":")
	if password != "" && !onePlaceholder.MatchString(password) {
		return errLiteralPassword
	}
	return nil
}
