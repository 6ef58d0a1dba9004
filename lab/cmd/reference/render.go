package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// groups are the sections of the reference, in order, by the namespaces that they hold. Other namespaces come after
// them, under their own names.
var groups = []struct{ namespace, title string }{
	{directives, "Everything in one line"},
	{"", "The app"},
	{"maps.stores", "Stores of accounts"},
	{"http.handlers", "HTTP handlers"},
	{"http.matchers", "Request matchers"},
	{"maps.geocoders", "Geocoders"},
	{"maps.matchers", "Map matchers"},
	{"admin.api", "Admin API"},
	{"caddy.logging.encoders.filter", "Log filters"},
}

// groupOf is the position of the group of a namespace.
func groupOf(namespace string) int {
	for i, g := range groups {
		if g.namespace == namespace {
			return i
		}
	}
	return len(groups)
}

func titleOf(namespace string) string {
	if i := groupOf(namespace); i < len(groups) {
		return groups[i].title
	}
	return "`" + namespace + "`"
}

const preface = `<!-- Made by "make docs" from the comments and commands in the source. Change those, not this file. -->

# Reference

Every module of caddy-maps with its Caddyfile syntax and its JSON fields, and [every command](#commands).
` + "[`Caddyfile.example`](../Caddyfile.example)" + ` shows all directives in place,
[configuration.md](run/configuration.md) how they work together.

- Durations: ` + "`90s`, `15m`, `30d`" + `; in JSON also a number of nanoseconds.
- Sizes: ` + "`8MiB`" + ` in a Caddyfile, a number of bytes in JSON.
- Relative paths start at the working directory.
- Directives need no ` + "`order`" + ` line.
`

// commonFrom is in how many modules or commands the same field or flag occurs that is described once for all of them.
const commonFrom = 3

// mention is how comments and commands refer to other documents.
var mention = regexp.MustCompile(`\bdocs/([a-z/-]+\.(?:md|yaml))(#[a-z-]+)?`)

// render writes the reference, modules in their order and then commands, as Markdown.
func render(modules []module, commands []command) []byte {
	var b bytes.Buffer
	b.WriteString(preface)
	for i, m := range modules {
		if title := titleOf(m.namespace()); i == 0 || title != titleOf(modules[i-1].namespace()) {
			fmt.Fprintf(&b, "\n- %s:", title)
		}
		fmt.Fprintf(&b, "\n  [`%s`](#%s)", m.heading(), anchor(m.heading()))
	}
	b.WriteString("\n")
	count := make(map[field]int)
	for _, m := range modules {
		for _, f := range m.fields {
			count[f]++
		}
	}
	var common []field
	for i, m := range modules {
		if title := titleOf(m.namespace()); i == 0 || title != titleOf(modules[i-1].namespace()) {
			fmt.Fprintf(&b, "\n## %s\n", title)
		}
		m.render(&b, func(f field) bool { return count[f] >= commonFrom })
		for _, f := range m.fields {
			if count[f] >= commonFrom && !slices.Contains(common, f) {
				common = append(common, f)
			}
		}
	}
	if len(common) > 0 {
		b.WriteString("\n## Common fields\n\nSeveral modules have these.\n\n")
		for _, f := range common {
			f.render(&b)
		}
	}
	renderCommands(&b, commands)
	return mention.ReplaceAll(b.Bytes(), []byte("[docs/$1]($1$2)"))
}

// heading is the id of a module, or the name of a directive.
func (m *module) heading() string { return strings.TrimPrefix(m.id, directives+".") }

// render writes the section of a module. Fields that are common are only named.
func (m *module) render(b *bytes.Buffer, isCommon func(field) bool) {
	fmt.Fprintf(b, "\n### %s\n\n", m.heading())
	writeBlocks(b, m.about)
	if m.syntax != "" {
		fmt.Fprintf(b, "```\n%s\n```\n\n", tabs(m.syntax))
	}
	writeBlocks(b, m.notes)
	language := "caddyfile"
	if m.syntax == "" {
		language = "sh"
	}
	fmt.Fprintf(b, "Example:\n\n```%s\n%s\n```\n", language, strings.TrimRight(m.example, "\n"))
	if m.kind != "" {
		fmt.Fprintf(b, "\nJSON: %s.\n", m.kind)
	} else if len(m.fields) > 0 {
		b.WriteString("\nJSON fields:\n\n")
	}
	var common []string
	for _, f := range m.fields {
		if isCommon(f) {
			common = append(common, "`"+f.path+"`")
		} else {
			f.render(b)
		}
	}
	if len(common) > 0 {
		fmt.Fprintf(b, "- %s: [common fields](#common-fields)\n", strings.Join(common, ", "))
	}
}

func (f *field) render(b *bytes.Buffer) {
	fallback := "required"
	if f.fallback != "" {
		fallback = "default: " + f.fallback
	}
	fmt.Fprintf(b, "- `%s` (%s, %s): %s\n", f.path, f.kind, fallback, f.about)
}

func writeBlocks(b *bytes.Buffer, all []block) {
	for _, part := range all {
		if part.code {
			fmt.Fprintf(b, "```\n%s\n```\n\n", part.text)
		} else {
			fmt.Fprintf(b, "%s\n\n", part.text)
		}
	}
}

// anchor is the fragment of a URL that GitHub gives to a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', '0' <= r && r <= '9', 'a' <= r && r <= 'z':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

// tabs turns indentation by four spaces into tabs, as Caddyfiles have it.
func tabs(text string) string {
	lines := slices.Collect(strings.Lines(text))
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		depth := (len(line) - len(rest)) / 4
		lines[i] = strings.Repeat("\t", depth) + rest
	}
	return strings.Join(lines, "")
}
