package command

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newBackupCmd) }

func newBackupCmd() *cobra.Command {
	var client adminClient
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup <file>",
		Short: "Copies the SQLite store of the running server",
		Long: `
Asks the running server for a copy of its SQLite store as it is at one moment,
while requests go on. The server writes the copy, on its own machine, with mode
0600. An earlier backup is replaced; any other file is refused.

To restore a copy, stop the server, remove the old store's -wal and -shm files,
and put the copy in its place. Keep the key encryption key somewhere else.

Copy a PostgreSQL store with the database's own tools, such as pg_dump.`,
		Example: `  caddy maps backup /var/backups/accounts.db`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name the file to write: caddy maps backup FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
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
			if asJSON {
				return printJSON(cmd.OutOrStdout(), made)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", made.Output, humanize.IBytes(uint64(made.Bytes)))
			return err
		},
	}
	client.addFlags(cmd)
	addJSON(cmd, &asJSON)
	return cmd
}
