package app

import (
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// SigningKey describes a signing key, without key material.
type SigningKey struct {
	ID        string    `json:"kid"`
	Use       string    `json:"use"` // access or user
	Algorithm string    `json:"algorithm"`
	CreatedAt time.Time `json:"createdAt"` // UTC
	// Signs is whether the key signs new tokens.
	Signs bool `json:"signs"`
	// SignsFrom is when a new key of access tokens begins to sign, once verifiers can have fetched it; null for others.
	SignsFrom *time.Time `json:"signsFrom"`
	// RemovedAt is when the key will be removed because its last token has expired; null for keys without a successor.
	RemovedAt *time.Time `json:"removedAt"`
}

// SigningKeys are all signing keys, oldest first.
type SigningKeys struct {
	Keys []SigningKey `json:"keys"`
	// Revoked are the ids of the keys that were removed, ending their tokens; only with revokeOld.
	Revoked []string `json:"revoked,omitzero"`
}

func rotateKeys(app *App, w http.ResponseWriter, r *http.Request) error {
	memory := app.Body(r)
	defer memory.Release()
	var body struct {
		RevokeOld bool `json:"revokeOld"`
	}
	if r.ContentLength != 0 {
		if err := request.ReadObject(r, request.SmallBody, &memory, &body); err != nil {
			return err
		}
	}
	session, err := app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	var keys SigningKeys
	if body.RevokeOld {
		keys.Revoked, err = revokeKeys(app, session, r)
	} else {
		err = session.Authority.Rotate(r.Context())
	}
	if err != nil {
		if errors.Is(err, credential.ErrTooManyKeys) {
			return apierror.Error{Status: http.StatusConflict, Message: err.Error()}
		}
		return err
	}
	if keys.Keys, err = listKeys(r, session); err != nil {
		return err
	}
	var kids []string
	for _, k := range keys.Keys {
		kids = append(kids, k.ID)
	}
	app.Logger().Info("signing keys rotated", zap.Strings("kids", kids), zap.String("remote_addr", r.RemoteAddr))
	request.WriteJSON(w, http.StatusOK, keys)
	return nil
}

// revokeKeys replaces all keys and returns the ids of the removed ones.
func revokeKeys(app *App, session *Session, r *http.Request) ([]string, error) {
	revoked, err := session.Authority.ReplaceKeys(r.Context())
	if err == nil {
		app.Logger().Info("signing keys revoked; their tokens have ended",
			zap.Strings("kids", revoked), zap.String("remote_addr", r.RemoteAddr))
	}
	return revoked, err
}

// listKeys returns all keys.
func listKeys(r *http.Request, session *Session) ([]SigningKey, error) {
	found, err := session.Authority.Keys(r.Context())
	keys := make([]SigningKey, 0, len(found))
	for _, k := range found {
		keys = append(keys, SigningKey{ID: k.ID, Use: string(k.Use), Algorithm: k.Algorithm, CreatedAt: k.CreatedAt,
			Signs: k.Signs, SignsFrom: orNull(k.SignsFrom), RemovedAt: orNull(k.Until)})
	}
	return keys, err
}

func orNull(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}
