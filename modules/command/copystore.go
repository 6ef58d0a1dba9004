package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/modules/pgstore"
)

func init() { subcommands = append(subcommands, newCopyStoreCmd) }

// storeOpenLimit bounds how long a database may take to answer.
const storeOpenLimit = 30 * time.Second

func newCopyStoreCmd() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy-store --from bolt:<file> --to postgres:<dsn>",
		Short: "Copies accounts, grants, signing keys, quotas and usage from bolt to PostgreSQL",
		Long: `
Copies all accounts, grants, signing keys, quotas of organizations and usage from a
bolt store, which no server may have open, to a PostgreSQL database that holds none
yet. All tokens stay good, and what was used goes on counting. It is one transaction:
what was copied is read back and compared with the source, by count and content,
before it is kept, and if anything fails the target is as it was.

Records of usage are those of hours, days and months. Events of quotas that were
warned of or reached may come once more in the same window.

The target is what "store postgres" takes. A password stands in it as a placeholder,
{env.NAME} or {file./path}, or comes from PGPASSWORD or the password file. Start
servers on the target only after the copy: the first one makes signing keys.`,
		Example: `  caddy maps copy-store --from bolt:/var/lib/maps/accounts.db --to 'postgres:{env.MAPS_DATABASE_URL}'`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			show := newProgress(cmd.ErrOrStderr())
			counts, err := copyStore(ctx, from, to, show.update)
			show.end()
			if err != nil {
				return interrupted(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "copied and compared: %v\n", counts)
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "The store to copy, bolt:<file> (required)")
	cmd.Flags().StringVar(&to, "to", "", "The store to fill, postgres:<dsn> (required)")
	_ = cmd.MarkFlagRequired("from") // fails only for a flag that is not there
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

func copyStore(ctx context.Context, from, to string,
	progress func(stage string, done, total int64)) (account.Counts, error) {
	path, ok := strings.CutPrefix(from, "bolt:")
	if !ok || path == "" {
		return account.Counts{}, errors.New("--from: must be bolt:<file>")
	}
	dsn, ok := strings.CutPrefix(to, "postgres:")
	if strings.HasPrefix(dsn, "//") {
		dsn = to // a URL by itself
	}
	if !ok || dsn == "" {
		return account.Counts{}, errors.New("--to: must be postgres:<connection string>")
	}
	module := pgstore.Module{DSN: dsn}
	if err := module.Provision(caddy.Context{}); err != nil {
		return account.Counts{}, fmt.Errorf("--to: %w", err)
	}
	// The store would be made if it were not there.
	if info, err := os.Stat(path); err != nil {
		return account.Counts{}, fmt.Errorf("--from: %w", err)
	} else if info.Size() == 0 {
		return account.Counts{}, fmt.Errorf("--from: %s is empty", path)
	}
	source, err := bolt.Open(path, nil)
	if err != nil {
		return account.Counts{}, fmt.Errorf("--from: %w", err)
	}
	defer source.Close()
	opening, cancel := context.WithTimeout(ctx, storeOpenLimit)
	defer cancel()
	target, err := module.Open(opening, zap.NewNop())
	if err != nil {
		return account.Counts{}, fmt.Errorf("--to: %w", err)
	}
	defer target.Close()
	counts, err := account.Copy(ctx, source, target.(account.Importer), progress)
	if errors.Is(err, account.ErrNotEmpty) {
		err = fmt.Errorf("--to: %w; nothing was copied", err)
	}
	return counts, err
}
