// Package command adds `caddy maps …` to Caddy's command line: commands that work on region files and stores, and
// commands that ask a running server through its admin API. What they do is in the packages that they call. Start with
// command.go, which groups the commands; each has a file of its own.
package command

import (
	"fmt"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// The groups of commands.
const offline, online = "offline", "online"

// reference is what the help of every command ends with.
const reference = "https://github.com/mapsedge/caddy-maps/blob/main/docs/reference.md#commands"

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "maps",
		Short: "Builds regions, works with them, and manages a running maps server",
		Long: `
Offline commands work on files. Server commands ask a running server through its
admin API, at --address, or where --config or the Caddyfile of this directory says,
or at localhost:2019.

For completion of commands and flags, run "source <(caddy completion bash)";
"caddy completion --help" lists other shells.`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use, cmd.DisableFlagsInUseLine = cmd.Name(), true // or the usage is "caddy maps  [flags]"
			cmd.SetHelpTemplate(cmd.HelpTemplate() + "\nReference of caddy-maps: " + reference + "\n")
			cmd.AddGroup(&cobra.Group{ID: offline, Title: "Offline commands:"},
				&cobra.Group{ID: online, Title: "Server commands:"})
			all := make([]*cobra.Command, 0, len(subcommands))
			for _, sub := range subcommands {
				sub := sub()
				if sub.GroupID = offline; sub.Flags().Lookup("address") != nil {
					sub.GroupID = online
				}
				all = append(all, sub)
			}
			slices.SortFunc(all, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
			cmd.AddCommand(all...)
			cmd.AddCommand(helpCommand())
			// Otherwise cobra takes an unknown command for an argument, shows the help and exits with 0.
			cmd.Args = knownSubcommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		},
	})
}

// helpCommand makes `caddy maps help build` the same as `caddy maps build --help`; cobra has it only at its root.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [command]",
		Short:  "Shows the help of a command",
		Hidden: true, // or the group of other commands lists it
		RunE: func(cmd *cobra.Command, args []string) error {
			of, left, err := cmd.Parent().Find(args)
			if err != nil {
				return err
			}
			if of == cmd.Parent() {
				if err := knownSubcommand(of, left); err != nil {
					return err
				}
			}
			of.InitDefaultHelpFlag() // the flag is in the help, too
			return of.Help()
		},
	}
}

// knownSubcommand refuses unknown subcommands.
func knownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q; %s", args[0], cmd.CommandPath(), text.DidYouMean(args[0], names))
}

// subcommands makes the commands below `caddy maps`. Each command's file adds it in its init.
var subcommands []func() *cobra.Command
