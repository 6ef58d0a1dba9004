package command

import (
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newBackupCmd) }

func newBackupCmd() *cobra.Command {
	var client adminClient
	var output string
	cmd := &cobra.Command{
		Use:   "backup --output <file>",
		Short: "Copies the accounts database of the running server",
		Long: `
Asks the running server's admin API for a copy of its bolt store, as it is at one
moment, while requests go on. The server writes the copy, so the path is one on the
server's machine. The copy is written beside the target, synced, and renamed into
place when it is whole; it has mode 0600, since it holds what the store holds. A
file that is there already is replaced if it is such a copy, and anything else, a
symbolic link too, is refused.

A PostgreSQL store is copied with the database's own means, such as pg_dump.`,
		Example: `  caddy maps backup --output /var/backups/accounts.db`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := filepath.Abs(output)
			if err != nil {
				return err
			}
			var made struct {
				Output string `json:"output"`
				Bytes  int64  `json:"bytes"`
			}
			if err := client.do(http.MethodPost, "/maps/backup", map[string]string{"output": path}, &made); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", made.Output, humanize.IBytes(uint64(made.Bytes)))
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "The file to write (required)")
	_ = cmd.MarkFlagRequired("output") // fails only for a flag that is not there
	client.addFlags(cmd)
	return cmd
}
