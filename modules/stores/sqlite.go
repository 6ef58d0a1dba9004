// Package stores has the Caddy modules that open the store of accounts: `maps.stores.sqlite`, the default, for a single
// server, and `maps.stores.postgres` for several servers. They read the configuration; the stores are in
// internal/access/store.
//
// Start reading at Provision and Open in sqlite.go and postgres.go.
package stores

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(SQLite)) }

// SQLite keeps accounts, grants, signing keys and usage in an SQLite file, for a single server: a second one on the
// same file is refused.
//
// The file is made at the first start, with mode 0600 and directories with mode 0700. An existing directory is not
// changed; a warning says if others may write to it. A change is on the disk before its request is answered.
//
// Other programs, such as `sqlite3` and Litestream, can open the live file. Beside it are files that end in `-wal`,
// `-shm` and `.lock`; `caddy maps backup` makes a complete copy.
type SQLite struct {
	// The file. Default: `maps/accounts.db` in Caddy's data directory (`caddy environ` shows it as `caddy.AppDataDir`).
	Path string `json:"path,omitempty"`

	key string
}

// CaddyModule returns the Caddy module information.
func (*SQLite) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.stores.sqlite", New: func() caddy.Module { return new(SQLite) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (m *SQLite) UnmarshalJSON(data []byte) error { return options.Decode(data, m) }

// Provision resolves the path. It opens and creates nothing, so that a configuration can be checked beside a running
// server.
func (m *SQLite) Provision(caddy.Context) error {
	path := caddy.NewReplacer().ReplaceAll(m.Path, "")
	if m.Path == "" {
		path = filepath.Join(caddy.AppDataDir(), "maps", "accounts.db")
	}
	if path == "" {
		return fmt.Errorf("store sqlite: path %q is empty once its placeholders are replaced", m.Path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if m.key, err = store.ResolvePath(absolute); err != nil {
		return fmt.Errorf("store sqlite: path %s: %w", path, err)
	}
	if info, err := os.Stat(m.key); err == nil && info.IsDir() {
		return fmt.Errorf("store sqlite: path %s is a directory; name a file in it", path)
	}
	return nil
}

// Key returns the absolute path of the file with links resolved. Configurations with the same key share the store.
func (m *SQLite) Key() string { return m.key }

// Open opens or creates the file.
func (m *SQLite) Open(ctx context.Context, logger *zap.Logger) (*store.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	opened, err := store.OpenSQLite(m.key, logger)
	if err != nil {
		return nil, err
	}
	logger.Info("opened accounts database", zap.String("path", m.key))
	if dir := filepath.Dir(m.key); files.OthersMayReplace(dir) { // the operator created it, so its mode stays
		logger.Warn("others may write to the directory of the accounts database and replace the file: chmod go-w",
			zap.String("directory", dir))
	}
	return opened, nil
}

// Interface guard
var _ caddy.Provisioner = (*SQLite)(nil)
