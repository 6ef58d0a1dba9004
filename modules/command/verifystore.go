package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/store"
)

func init() { subcommands = append(subcommands, newVerifyStoreCmd) }

// maxFaultsShown is how many faults are listed.
const maxFaultsShown = 20

func newVerifyStoreCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify-store <file>",
		Short: "Checks an SQLite store or a backup for damage",
		Long: `
Checks an SQLite store or a backup without changing it: pages, indexes,
references, and whether every account, grant and signing key can be read. A backup
also has a checksum of its bytes. The exit code is 1 if anything is damaged. A
server may have the file open.`,
		Example: `  caddy maps verify-store /var/backups/accounts.db`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("expected one file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if strings.HasPrefix(path, "postgres:") || strings.HasPrefix(path, "postgresql:") {
				return usagef("only an SQLite store or a backup can be checked; " +
					"for PostgreSQL see pg_checksums and pg_amcheck")
			}
			counts, faults, err := store.Verify(cmd.Context(), strings.TrimPrefix(path, "sqlite:"), maxFaultsShown)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				result := struct {
					Rows   store.Counts `json:"rows"`
					Faults []string     `json:"faults"`
				}{counts, append([]string{}, faults...)}
				if err := printJSON(out, result); err != nil || len(faults) == 0 {
					return err
				}
				return damaged(path)
			case len(faults) == 0:
				_, err := fmt.Fprintf(out, "%s: %v: no damage\n", path, counts)
				return err
			}
			for _, fault := range faults {
				if _, err := fmt.Fprintf(out, "%s: %v\n", path, fault); err != nil {
					return err
				}
			}
			return damaged(path)
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func damaged(path string) error { return fmt.Errorf("%s is damaged; restore an intact backup", path) }
