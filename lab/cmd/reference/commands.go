package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// command is what the reference says of a command.
type command struct {
	path    string // "caddy maps build"
	group   string // the title of the group that the help of its parent lists it in; "" for none
	usage   string
	short   string
	long    string
	example string
	flags   []commandFlag
}

type commandFlag struct {
	form     string // "-o, --output <text>"
	fallback string
	about    string
}

// commandsOf describes `caddy maps` and all commands below it, as they are registered with Caddy.
func commandsOf(name string) ([]command, error) {
	registered, ok := caddycmd.Commands()[name]
	if !ok {
		return nil, fmt.Errorf("there is no command %q", name)
	}
	root := &cobra.Command{Use: "caddy"}
	cmd := &cobra.Command{Use: registered.Name, Short: registered.Short, Long: registered.Long}
	root.AddCommand(cmd)
	registered.CobraFunc(cmd)
	return describeCommands(cmd)
}

// describeCommands describes a command and those below it, by name. All that is missing is one error.
func describeCommands(cmd *cobra.Command) (all []command, err error) {
	c := command{
		path: cmd.CommandPath(), usage: strings.TrimSpace(cmd.Parent().CommandPath() + " " + cmd.Use),
		short: cmd.Short, long: strings.TrimSpace(cmd.Long), example: unindented(cmd.Example),
	}
	for _, g := range cmd.Parent().Groups() {
		if g.ID == cmd.GroupID {
			c.group = strings.TrimSuffix(g.Title, ":")
		}
	}
	var problems []error
	missing := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s", c.path, fmt.Sprintf(format, args...)))
	}
	if c.short == "" || c.long == "" {
		missing("it needs both Short and Long")
	}
	if !cmd.HasSubCommands() && c.example == "" {
		missing("it has no Example")
	}
	for line := range strings.Lines(c.example) {
		if !strings.HasPrefix(line, c.path) {
			missing("%q is no example of it", strings.TrimSpace(line))
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if f.Usage == "" {
			missing("the flag --%s has no description", f.Name)
		}
		c.flags = append(c.flags, flagOf(f))
	})
	all = append(all, c)
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		below, err := describeCommands(sub)
		problems = append(problems, err)
		for i := range below {
			below[i].group = cmp.Or(below[i].group, c.group)
		}
		all = append(all, below...)
	}
	return all, errors.Join(problems...)
}

const requiredEnding = " (required)"

func flagOf(f *pflag.Flag) (described commandFlag) {
	described.form = "--" + f.Name
	if f.Shorthand != "" {
		described.form = "-" + f.Shorthand + ", " + described.form
	}
	if f.DefValue != "" {
		described.fallback = "`" + f.DefValue + "`"
	}
	switch f.Value.Type() {
	case "bool":
		described.fallback = map[string]string{"false": "off", "true": "on"}[f.DefValue]
	case "string", "stringSlice":
		described.form += " <text>"
	default:
		described.form += " <number>"
	}
	about, required := strings.CutSuffix(f.Usage, requiredEnding)
	if described.about = about; required {
		described.fallback = "required"
	}
	return described
}

// unindented takes away by how much the first line is indented.
func unindented(text string) string {
	text = strings.Trim(text, "\n")
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n"+indent, "\n"), indent)
}

var longForm = regexp.MustCompile(`--[a-z-]+`)

// renderCommands writes the part on commands as Markdown: the first, which holds the others, and then each of those.
func renderCommands(b *bytes.Buffer, all []command) {
	b.WriteString("\n## Commands\n\n" + plain(all[0].long) + "\n")
	all = slices.Clone(all[1:])
	slices.SortStableFunc(all, func(a, b command) int { return strings.Compare(a.group, b.group) })
	for i, c := range all {
		if i == 0 || c.group != all[i-1].group {
			fmt.Fprintf(b, "\n%s:\n\n", cmp.Or(c.group, "Commands"))
		}
		fmt.Fprintf(b, "- [`%s`](#%s): %s\n", c.path, anchor(c.path), plain(c.short))
	}
	count := make(map[commandFlag]int)
	for _, c := range all {
		for _, f := range c.flags {
			count[f]++
		}
	}
	var common []commandFlag
	for _, c := range all {
		fmt.Fprintf(b, "\n### %s\n\n```\n%s\n```\n\n%s\n\nExample:\n\n```sh\n%s\n```\n", c.path, c.usage,
			plain(c.long), c.example)
		if len(c.flags) > 0 {
			b.WriteString("\n")
		}
		var named []string
		for _, f := range c.flags {
			if count[f] < commonFrom {
				f.render(b)
				continue
			}
			named = append(named, "`"+longForm.FindString(f.form)+"`")
			if !slices.Contains(common, f) {
				common = append(common, f)
			}
		}
		if len(named) > 0 {
			fmt.Fprintf(b, "- %s: [common flags](#common-flags)\n", strings.Join(named, ", "))
		}
	}
	if len(common) > 0 {
		b.WriteString("\n### Common flags\n\n")
		for _, f := range common {
			f.render(b)
		}
	}
}

func (f *commandFlag) render(b *bytes.Buffer) {
	fallback := ""
	if f.fallback != "" {
		fallback = " (" + f.fallback + ")"
	}
	fmt.Fprintf(b, "- `%s`%s: %s\n", f.form, fallback, plain(f.about))
}

// plain keeps Markdown from taking characters of a text that is for terminals for its own.
func plain(text string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "\n- ", "\n\\- ", "\n#", "\n\\#").Replace(text)
}
