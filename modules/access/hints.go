package access

import (
	"errors"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// given is a token of a request. name is that of its field, or empty.
type given struct {
	name, token string
	wanted      credential.Kind
}

// hinted is a refusal with what the form of a token reveals, which the client may know.
type hinted struct {
	error
	hint string
}

func (h hinted) Error() string { return h.error.Error() + ": " + h.hint }
func (h hinted) Unwrap() error { return h.error }

// withHint adds to a refusal what the form of the first wrong token reveals. Empty tokens have not been sent.
func withHint(err error, tokens ...given) error {
	if !errors.Is(err, credential.ErrInvalid) {
		return err
	}
	for _, g := range tokens {
		if g.token == "" {
			continue
		}
		if hint := credential.Hint(g.token, g.wanted); hint != "" {
			if g.name != "" {
				hint = g.name + ": " + hint
			}
			return hinted{err, hint}
		}
	}
	return err
}

// hintOf returns the hint of a refusal, or "".
func hintOf(err error) string {
	h, _ := errors.AsType[hinted](err)
	return h.hint
}

// unauthorized returns the response to a refusal.
func unauthorized(err error) apierror.Error {
	return apierror.Unauthorized(true).WithDescription(hintOf(err))
}
