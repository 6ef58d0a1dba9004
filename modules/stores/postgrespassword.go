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
	// onePlaceholder matches a value that consists of a single placeholder for a secret kept elsewhere.
	onePlaceholder = regexp.MustCompile(`^\{(file|env)\.[^{}]+\}$`)
	// passwordKeyword matches passwords among keywords and in the query of a URL.
	passwordKeyword = regexp.MustCompile(`(?i)(?:^|[\s?&])(?:ssl)?password\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]*)`)
)

// refuseLiteralPassword refuses a password in a connection string whose placeholders are not replaced yet.
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
	// The last @ counts: a password that is not encoded may contain any delimiter.
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
