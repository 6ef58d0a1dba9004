package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/store"
)

func init() { subcommands = append(subcommands, newVerifyStoreCmd) }

// maxFaultsShown is how many faults are named; more would tell the operator nothing else.
const maxFaultsShown = 20

func newVerifyStoreCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify-store <file>",
		Short: "Looks for damage in an SQLite store or a backup",
		Long: `
Checks an SQLite store, or a backup of one, and changes nothing in it: whether its
pages, indexes and references are in order, and whether every account, grant and
signing key can be read. A backup also has a checksum of all its bytes. The command
prints how much of everything there is, and ends with exit code 1 if anything is
damaged. A server may have the file open.

PostgreSQL checks its own pages, if data checksums are on ("pg_checksums").`,
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
				return errors.New("only the file of an SQLite store or of a backup can be checked; " +
					"for PostgreSQL see pg_checksums and pg_amcheck")
			}
			counts, faults, err := store.Verify(cmd.Context(), strings.TrimPrefix(path, "sqlite:"), maxFaultsShown)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if len(faults) == 0 {
				_, err := fmt.Fprintf(out, "%s: %v: no damage\n", path, counts)
				return err
			}
			for _, fault := range faults {
				if _, err := fmt.Fprintf(out, "%s: %v\n", path, fault); err != nil {
					return err
				}
			}
			return fmt.Errorf("%s is damaged; restore a backup that is whole", path)
		},
	}
}
