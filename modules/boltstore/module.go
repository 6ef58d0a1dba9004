// Package boltstore is the Caddy module of the embedded store, the default of the maps app.
package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/directory"
	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
)

func init() { caddy.RegisterModule(Module{}) }

// Module keeps accounts, grants, signing keys and usage in one file on this machine (an embedded bbolt database). It
// needs no other software, and suits a single node: only one process can have the file open.
//
// The file is made when the server starts with it for the first time, readable by the server's user alone (mode 0600,
// its directory 0700), and never when a configuration is only checked. A directory that is there already is left as
// it is, with a warning in the log if others may write to it. Whatever the server has answered is on the disk, and
// survives the process being killed. All of the file is checked: a server does not start on a damaged one, and
// answers 503 to what needs a part that was damaged later.
type Module struct {
	// The file to keep everything in. A relative path starts at the server's working directory. The file and its
	// directory are made if they are missing. Default: `maps/accounts.db` in Caddy's data directory (`caddy environ`
	// shows it as `caddy.AppDataDir`).
	Path string `json:"path,omitempty"`

	key string
}

// CaddyModule returns the Caddy module information.
func (Module) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.stores.bolt", New: func() caddy.Module { return new(Module) }}
}

// Provision finds out which file is meant. It opens and makes nothing, so that a configuration can be checked
// beside a running server.
func (m *Module) Provision(caddy.Context) error {
	path := caddy.NewReplacer().ReplaceAll(m.Path, "")
	if m.Path == "" {
		path = filepath.Join(caddy.AppDataDir(), "maps", "accounts.db")
	}
	if path == "" {
		return fmt.Errorf("store bolt: path %q is empty once its placeholders are replaced", m.Path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if m.key, err = resolve(absolute); err != nil {
		return fmt.Errorf("store bolt: path %s: %w", path, err)
	}
	if info, err := os.Stat(m.key); err == nil && info.IsDir() {
		return fmt.Errorf("store bolt: path %s is a directory; name a file in it", path)
	}
	return nil
}

// Key returns the absolute path of the file with links resolved: configurations with the same key mean the same
// store.
func (m *Module) Key() string { return m.key }

// Open opens the file, or makes it.
func (m *Module) Open(ctx context.Context, logger *zap.Logger) (store.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	store, err := bolt.Open(m.key, logger)
	if err != nil {
		return nil, err
	}
	logger.Info("opened accounts database", zap.String("path", m.key))
	if dir := filepath.Dir(m.key); directory.OthersMayReplace(dir) { // the operator has made it, so it is not changed
		logger.Warn("others may write to the directory of the accounts database, and put another in its place; "+
			"take that away: chmod go-w", zap.String("directory", dir))
	}
	return store, nil
}

// maxLinks is how many links a path may lead through, as on Linux.
const maxLinks = 40

// resolve follows the links of an absolute path, of which the end need not exist.
func resolve(path string) (string, error) {
	for range maxLinks {
		resolved, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return resolved, err
		}
		target, err := os.Readlink(path)
		if err != nil { // not a link: its directory may lead through some
			parent := filepath.Dir(path)
			if parent == path {
				return path, nil
			}
			parent, err := resolve(parent)
			return filepath.Join(parent, filepath.Base(path)), err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", errors.New("too many links")
}

// opener is what the maps app asks of a store module.
type opener interface {
	// Key is the identity of the store.
	Key() string
	// Open opens the store; logger outlives the configuration.
	Open(ctx context.Context, logger *zap.Logger) (store.Store, error)
}

// Interface guards
var (
	_ caddy.Provisioner = (*Module)(nil)
	_ opener            = (*Module)(nil)
)
