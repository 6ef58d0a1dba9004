package adminapi

import (
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

// SigningKey tells about a signing key, without a part of it.
type SigningKey struct {
	ID        string    `json:"kid"`
	Use       string    `json:"use"` // access or user
	Algorithm string    `json:"algorithm"`
	CreatedAt time.Time `json:"createdAt"` // UTC
	// Signs is whether new tokens are signed with the key.
	Signs bool `json:"signs"`
	// RemovedAt is when the key will be removed, because its last token has expired; null for keys that have no follower.
	RemovedAt *time.Time `json:"removedAt"`
}

// SigningKeys are all signing keys, oldest first.
type SigningKeys struct {
	Keys []SigningKey `json:"keys"`
}

func rotateKeys(app *mapsapp.App, w http.ResponseWriter, r *http.Request) error {
	session, err := app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	if err := session.Authority.Rotate(r.Context()); err != nil {
		if errors.Is(err, credential.ErrTooManyKeys) {
			return apierror.Error{Status: http.StatusConflict, Message: err.Error()}
		}
		return err
	}
	keys := SigningKeys{Keys: []SigningKey{}}
	var signing []string
	for _, k := range session.Authority.Keys() {
		shown := SigningKey{ID: k.ID, Use: string(k.Use), Algorithm: k.Algorithm, CreatedAt: k.CreatedAt, Signs: k.Signs}
		if !k.Until.IsZero() {
			shown.RemovedAt = &k.Until
		}
		if k.Signs {
			signing = append(signing, k.ID)
		}
		keys.Keys = append(keys.Keys, shown)
	}
	app.Logger().Info("signing keys rotated", zap.Strings("kids", signing), zap.String("remote_addr", r.RemoteAddr))
	httpjson.Write(w, http.StatusOK, keys)
	return nil
}
