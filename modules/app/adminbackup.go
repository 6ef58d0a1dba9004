package app

import (
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// Backup is a copy of the store.
type Backup struct {
	Output string `json:"output"` // absolute path, on the server
	Bytes  int64  `json:"bytes"`
}

func backup(app *App, w http.ResponseWriter, r *http.Request) error {
	memory := app.Body(r)
	defer memory.Release()
	var body struct {
		Output string `json:"output"`
	}
	if err := request.ReadObject(r, request.SmallBody, &memory, &body); err != nil {
		return err
	}
	output := body.Output
	switch {
	case output == "":
		return apierror.FailedValidation("output: missing")
	case !filepath.IsAbs(output):
		return apierror.FailedValidation("output: must be the absolute path of a file")
	}
	session, err := app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	began := time.Now()
	size, err := session.Store.Backup(r.Context(), output)
	switch {
	case errors.Is(err, store.ErrNoBackup):
		return apierror.Error{
			Status:  http.StatusNotImplemented,
			Message: "the store is not a file of this server; copy a PostgreSQL database with pg_dump",
		}
	case err != nil:
		app.Logger().Error("backup failed", zap.String("output", output), zap.Error(err),
			zap.String("remote_addr", r.RemoteAddr))
		return backupError(err)
	}
	app.Logger().Info("backup made", zap.String("output", output), zap.Int64("bytes", size),
		zap.Duration("took", time.Since(began)), zap.String("remote_addr", r.RemoteAddr))
	if dir := filepath.Dir(output); files.OthersMayReplace(dir) {
		app.Logger().Warn("others may write to the directory of the backup and replace it: chmod go-w",
			zap.String("directory", dir))
	}
	request.WriteJSON(w, http.StatusOK, Backup{output, size})
	return nil
}

// backupError is the client's error: what is wrong with the output file or the store. The log has the whole error.
func backupError(err error) error {
	if errors.Is(err, account.ErrDamaged) {
		return apierror.Error{
			Status:  http.StatusServiceUnavailable,
			Message: "the store is damaged, and no copy of it was kept; stop the server, and restore an earlier backup",
		}
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return apierror.FailedValidation("output: " + err.Error())
}
