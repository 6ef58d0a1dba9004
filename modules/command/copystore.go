package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/modules/stores"
)

func init() { subcommands = append(subcommands, newCopyStoreCmd) }

// storeOpenTimeout is how long a database may take to answer.
const storeOpenTimeout = 30 * time.Second

func newCopyStoreCmd() *cobra.Command {
	var from, to string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "copy-store --from sqlite:<file>|postgres:<dsn> --to postgres:<dsn>|sqlite:<file>",
		Short: "Copies a store between SQLite and PostgreSQL",
		Long: `
Copies everything to a store that is empty, in one transaction: the copy is read
back and compared before it is kept. All tokens stay valid.

Stop the servers of both stores first, and start servers on the target only after
the copy. In a connection string, a password is a placeholder ({env.NAME} or
{file./path}), or comes from PGPASSWORD or the password file.`,
		Example: `  caddy maps copy-store --from sqlite:/var/lib/maps/accounts.db --to 'postgres:{env.MAPS_DATABASE_URL}'`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			show := newProgress(cmd.ErrOrStderr(), map[string]float64{"copying": 1, "comparing": 1})
			counts, err := copyStore(ctx, from, to, show.update)
			show.end()
			if err != nil {
				return interrupted(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), counts)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "copied and compared: %v\n", counts)
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "Store to copy (required)")
	cmd.Flags().StringVar(&to, "to", "", "Store to fill (required)")
	addJSON(cmd, &asJSON)
	_ = cmd.MarkFlagRequired("from") // fails only for a flag that is not there
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

func copyStore(ctx context.Context, from, to string,
	progress func(stage string, done, total int64)) (store.Counts, error) {
	source, err := openStore(ctx, from, true)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	defer source.Close()
	target, err := openStore(ctx, to, false)
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	defer target.Close()
	counts, err := store.Copy(ctx, source, target, progress)
	if errors.Is(err, store.ErrNotEmpty) {
		err = fmt.Errorf("--to: %w; nothing was copied", err)
	}
	return counts, err
}

// openStore opens the store that a flag names. With exists, a missing one is an error.
func openStore(ctx context.Context, name string, exists bool) (*store.Store, error) {
	kind, where, _ := strings.Cut(name, ":")
	switch {
	case where == "":
	case kind == "sqlite":
		if info, err := os.Stat(where); exists && err != nil {
			return nil, err
		} else if exists && info.Size() == 0 {
			return nil, fmt.Errorf("%s is empty", where)
		}
		path, err := filepath.Abs(where)
		if err != nil {
			return nil, err
		}
		return store.OpenSQLite(path, zap.NewNop())
	case kind == "postgres", kind == "postgresql":
		if strings.HasPrefix(where, "//") {
			where = name // a URL by itself
		}
		module := stores.Postgres{DSN: where}
		if err := module.Provision(caddy.Context{}); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, storeOpenTimeout)
		defer cancel()
		return module.Open(ctx, zap.NewNop())
	}
	return nil, usagef("must be sqlite:FILE or postgres:CONNECTION-STRING")
}
