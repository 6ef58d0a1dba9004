// Package command adds `caddy maps …` to Caddy's command line.
package command

import (
	"slices"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
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
		},
	})
}

// subcommands makes the commands below `caddy maps`. Each file of this package that holds one adds it in its init.
var subcommands []func() *cobra.Command
