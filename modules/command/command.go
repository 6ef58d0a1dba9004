// Package command adds `caddy maps …` to Caddy's command line.
package command

import (
	"fmt"
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "maps",
		Short: "Builds and inspects map regions, asks them, and tends accounts and keys",
		Long: `
Commands of the maps service: compiling OpenStreetMap extracts into region files,
looking into them and asking them without a server; user tokens, new signing keys
and backups, for which a running server is asked through its admin API; looking for
damage in a store, and moving accounts from one store to another.`,
		CobraFunc: func(cmd *cobra.Command) {
			all := make([]*cobra.Command, 0, len(subcommands))
			for _, sub := range subcommands {
				all = append(all, sub())
			}
			slices.SortFunc(all, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
			cmd.AddCommand(all...)
			cmd.AddCommand(helpCommand())
			// Without this cobra takes any word for an argument, shows the help and exits with 0.
			cmd.Args = knownSubcommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		},
	})
}

// helpCommand makes `caddy maps help build` what `caddy maps build --help` is: cobra has such a command at its root
// alone.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "help [command]",
		Short:  "Shows the help of a command",
		Hidden: true, // where others are named; cobra lists whatever is called help
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

// knownSubcommand refuses what is left of the arguments of a command that has subcommands.
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

// subcommands makes the commands below `caddy maps`. Each file of this package that holds one adds it in its init.
var subcommands []func() *cobra.Command
