package access

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// maxDescription is the longest description, in characters.
const maxDescription = 500

// fields are the fields of a body; nil if it lacks them.
type fields struct {
	Platform     *account.Platform     `json:"platform"`
	IsAdmin      *bool                 `json:"isAdmin"`
	Description  *string               `json:"description"`
	Scopes       *account.Scopes       `json:"scopes"`
	Status       *account.Status       `json:"status"`
	Quotas       *account.Quotas       `json:"quotas"`
	Restrictions *account.Restrictions `json:"restrictions"`
}

// check validates the values, with the scopes that accounts can have. Its errors begin with the name of the field and
// are shown to the client.
func (f *fields) check(allowed account.ScopeSet) error {
	if f.Platform != nil && !f.Platform.Valid() {
		return errors.New("platform: must be WEB, ANDROID, IOS, DESKTOP or empty")
	}
	if f.Description != nil {
		if err := checkDescription(*f.Description); err != nil {
			return fmt.Errorf("description: %w", err)
		}
	}
	if f.Scopes != nil {
		if err := f.Scopes.Check(allowed); err != nil {
			return fmt.Errorf("scopes: %w", err)
		}
	}
	if f.Status != nil && !f.Status.Valid() {
		return errors.New("status: must be ACTIVE, SUSPENDED or REVOKED")
	}
	if f.Quotas != nil {
		if err := cmp.Or(account.CheckQuotas(*f.Quotas), account.CheckQuotaScopes(*f.Quotas, allowed)); err != nil {
			return fmt.Errorf("quotas: %w", err)
		}
	}
	if f.Restrictions != nil {
		if _, err := f.Restrictions.Compile(); err != nil {
			return fmt.Errorf("restrictions: %w", err)
		}
	}
	return nil
}

func checkDescription(text string) error {
	switch {
	case utf8.RuneCountInString(text) > maxDescription:
		return fmt.Errorf("must be at most %d characters", maxDescription)
	case strings.ContainsFunc(text, func(r rune) bool { return r == 0 || unicode.Is(unicode.Bidi_Control, r) }):
		return errors.New("must contain neither U+0000 nor characters that control the direction of text")
	}
	return nil
}
