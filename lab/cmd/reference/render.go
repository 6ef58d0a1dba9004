package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// groups are the sections of the reference, in order, by the namespaces that they hold. Other namespaces come after
// them, under their own names.
var groups = []struct{ namespace, title string }{
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

Every module of caddy-maps, with its fields in Caddy's JSON and its syntax in a Caddyfile, and at the end
[every command](#commands).
` + "[`Caddyfile.example`](../Caddyfile.example)" + ` shows all directives in place,
[configuration.md](run/configuration.md) how they work together.

Durations are written as in Caddy: ` + "`90s`, `15m`, `30d`" + `, in JSON also as a number of nanoseconds. Sizes
in a Caddyfile are written as ` + "`8MiB`" + `, in JSON as a number of bytes. Relative paths begin at the working
directory. Every directive has its place in Caddy's order, so no ` + "`order`" + ` line is needed.

| Module | |
|---|---|
`

// render writes the reference, modules in their order and then commands, as Markdown.
func render(modules []module, commands []command) []byte {
	var b bytes.Buffer
	b.WriteString(preface)
	for _, m := range modules {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", m.id, anchor(m.id), cell(m.summary()))
	}
	group := ""
	for i, m := range modules {
		if title := titleOf(m.namespace()); i == 0 || title != group {
			group = title
			fmt.Fprintf(&b, "\n## %s\n", title)
		}
		m.render(&b)
	}
	renderCommands(&b, commands)
	return b.Bytes()
}

func (m *module) render(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n### %s\n\n", m.id)
	writeBlocks(b, m.about)
	if m.syntax != "" {
		fmt.Fprintf(b, "Syntax:\n\n```\n%s\n```\n\n", tabs(m.syntax))
	}
	writeBlocks(b, m.notes)
	language := "caddyfile"
	if m.syntax == "" {
		language = "sh"
	}
	fmt.Fprintf(b, "Example:\n\n```%s\n%s\n```\n", language, strings.TrimRight(m.example, "\n"))
	switch {
	case m.kind != "":
		fmt.Fprintf(b, "\nJSON: %s.\n", m.kind)
	case len(m.fields) == 0:
		b.WriteString("\nJSON: an object without fields.\n")
	default:
		b.WriteString("\n| JSON field | Type | Default | |\n|---|---|---|---|\n")
	}
	for _, f := range m.fields {
		fallback := f.fallback
		if fallback == "" {
			fallback = "required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.path, cell(f.kind), cell(fallback), cell(f.about))
	}
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

// cell makes text fit for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

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
