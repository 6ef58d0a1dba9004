package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/store/bolt"
)

func init() { subcommands = append(subcommands, newVerifyStoreCmd) }

// maxFaultsShown is how many faults are named; more would tell the operator nothing else.
const maxFaultsShown = 20

func newVerifyStoreCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify-store <file>",
		Short: "Looks for damage in an accounts database or a backup",
		Long: `
Looks through a bolt store, or a backup of one, and changes nothing in it: whether
all pages of the file are in order, every record is what was written, none is
missing, and accounts, grants and their indexes belong together. It says how much of
everything there is, and ends with exit code 1 if anything is damaged.

No server may have the file open. To check the store of a running server, make a
backup ("caddy maps backup") and check that.

PostgreSQL checks its own pages, where data checksums are on ("pg_checksums").`,
		Example: `  caddy maps verify-store /var/backups/accounts.db`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("one file is needed, and there are %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if strings.HasPrefix(path, "postgres:") || strings.HasPrefix(path, "postgresql:") {
				return fmt.Errorf("only the file of a bolt store or a backup can be checked; " +
					"for PostgreSQL see pg_checksums and pg_amcheck")
			}
			r, err := bolt.Verify(strings.TrimPrefix(path, "bolt:"), maxFaultsShown)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if len(r.Faults) == 0 {
				_, err := fmt.Fprintf(out, "%s: %v: no damage\n", path, r.Counts)
				return err
			}
			for _, fault := range r.Faults {
				if _, err := fmt.Fprintf(out, "%s: %v\n", path, fault); err != nil {
					return err
				}
			}
			if r.More > 0 {
				if _, err := fmt.Fprintf(out, "%s: and %d more\n", path, r.More); err != nil {
					return err
				}
			}
			return fmt.Errorf("%s is damaged; restore a backup that is whole", path)
		},
	}
}
