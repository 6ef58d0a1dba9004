// Package command adds `caddy maps …` to Caddy's command line: offline commands for region files and stores, and
// commands that ask a running server through its admin API. The work is done by packages in internal/ and by
// modules/app; commands only parse flags and print.
//
// Start reading at command.go. Each other file has one command, or what several commands share.
package command

import (
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// The groups of commands.
const starting, offline, online = "starting", "offline", "online"

// reference is the link at the end of every command's help.
const reference = "https://github.com/mapsedge/caddy-maps/blob/main/docs/reference.md#commands"

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "maps",
		Short: "Builds regions, works with them, and manages a running maps server",
		Long: `
Offline commands work on files. Server commands ask a running server through its
admin API, at --address, or where --config or the Caddyfile of this directory says,
or at localhost:2019.

The exit code is 2 for a mistake on the command line, and 1 for any other failure.
With --json, commands print JSON. Progress and errors go to standard error.

For completion of commands and flags, run "source <(caddy completion bash)";
"caddy completion --help" lists other shells.`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Use, cmd.DisableFlagsInUseLine = cmd.Name(), true // or the usage is "caddy maps  [flags]"
			cmd.SetHelpTemplate(cmd.HelpTemplate() + "\nReference of caddy-maps: " + reference + "\n")
			cmd.AddGroup(&cobra.Group{ID: starting, Title: "Start here:"},
				&cobra.Group{ID: offline, Title: "Offline commands:"},
				&cobra.Group{ID: online, Title: "Server commands:"})
			all := make([]*cobra.Command, 0, len(subcommands))
			for _, sub := range subcommands {
				sub := sub()
				switch {
				case sub.GroupID != "": // it says so
				case sub.Flags().Lookup("address") != nil:
					sub.GroupID = online
				default:
					sub.GroupID = offline
				}
				all = append(all, sub)
			}
			slices.SortFunc(all, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
			cmd.AddCommand(all...)
			cmd.AddCommand(helpCommand())
			// Without this, cobra treats an unknown command as an argument, shows the help and exits with 0.
			cmd.Args = knownSubcommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			setExitCodes(cmd)
		},
	})
}

// helpCommand makes `caddy maps help build` the same as `caddy maps build --help`. Cobra only has a help command at its
// root.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [command]",
		Short:  "Shows the help of a command",
		Hidden: true, // cobra would list it twice
		RunE: func(cmd *cobra.Command, args []string) error {
			of, left, err := cmd.Parent().Find(args)
			if err != nil {
				return err
			}
			if of.HasSubCommands() {
				if err := knownSubcommand(of, left); err != nil {
					return err
				}
			}
			of.InitDefaultHelpFlag() // the flag is in the help, too
			return of.Help()
		},
	}
}

// knownSubcommand refuses arguments of a command that has subcommands: they are unknown subcommands.
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
	return usagef("unknown command %q for %q; %s", args[0], cmd.CommandPath(), text.DidYouMean(args[0], names))
}

// subcommands creates the commands below `caddy maps`. The file of each command adds it in its init.
var subcommands []func() *cobra.Command
