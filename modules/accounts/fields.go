package accounts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/internal/usageapi"
)

// maxDescription is the longest description, in characters.
const maxDescription = 500

var fieldNames = []string{"platform", "isAdmin", "description", "scopes", "status", "quotas", "restrictions"}

// fields are the fields of a body; nil for those that it does not have.
type fields struct {
	platform     *account.Platform
	isAdmin      *bool
	description  *string
	scopes       *account.Scopes
	status       *account.Status
	quotas       *account.Quotas
	restrictions *account.Restrictions
}

// parseFields reads a body. The error names the field that is wrong and is shown to the client.
func parseFields(body httpjson.Object) (fields, error) {
	var f fields
	if err := body.Only(fieldNames...); err != nil {
		return f, err
	}
	for _, parse := range []func(httpjson.Object) error{
		f.parsePlatform, f.parseIsAdmin, f.parseDescription, f.parseScopes, f.parseStatus,
		f.parseQuotas, f.parseRestrictions,
	} {
		if err := parse(body); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *fields) parsePlatform(body httpjson.Object) error {
	value, present, err := body.String("platform")
	if err != nil || !present {
		return err
	}
	platform := account.Platform(value)
	if !platform.Valid() {
		return errors.New("platform: must be WEB, ANDROID, IOS or DESKTOP")
	}
	f.platform = &platform
	return nil
}

func (f *fields) parseIsAdmin(body httpjson.Object) error {
	value, present, err := body.Bool("isAdmin")
	if err != nil || !present {
		return err
	}
	f.isAdmin = &value
	return nil
}

func (f *fields) parseDescription(body httpjson.Object) error {
	value, present, err := body.String("description")
	switch {
	case err != nil || !present:
		return err
	case utf8.RuneCountInString(value) > maxDescription:
		return fmt.Errorf("description: must be at most %d characters", maxDescription)
	case strings.ContainsFunc(value, func(r rune) bool { return r == 0 || unicode.Is(unicode.Bidi_Control, r) }):
		return errors.New("description: must contain neither U+0000 nor characters that control the direction of text")
	}
	f.description = &value
	return nil
}

func (f *fields) parseScopes(body httpjson.Object) error {
	values, present, err := body.Strings("scopes")
	switch {
	case err != nil || !present:
		return err
	case len(values) == 0:
		return errors.New("scopes: must not be empty")
	}
	scopes := make(account.Scopes, 0, len(values))
	for i, value := range values {
		scope := account.Scope(value)
		if scope.Set() == 0 {
			return fmt.Errorf("scopes: element %d is none of %v", i, account.AllScopes)
		}
		if slices.Contains(scopes, scope) {
			return fmt.Errorf("scopes: %s appears more than once", scope)
		}
		scopes = append(scopes, scope)
	}
	f.scopes = &scopes
	return nil
}

func (f *fields) parseStatus(body httpjson.Object) error {
	value, present, err := body.String("status")
	if err != nil || !present {
		return err
	}
	status := account.Status(value)
	if !status.Valid() {
		return errors.New("status: must be ACTIVE, SUSPENDED or REVOKED")
	}
	f.status = &status
	return nil
}

func (f *fields) parseQuotas(body httpjson.Object) error {
	quotas, present, err := usageapi.Quotas(body)
	if err != nil || !present {
		return err
	}
	f.quotas = &quotas
	return nil
}

func (f *fields) parseRestrictions(body httpjson.Object) error {
	value, present, err := body.Object("restrictions")
	if err != nil || !present {
		return err
	}
	restrictions, err := readRestrictions(value)
	if err != nil {
		return fmt.Errorf("restrictions: %w", err)
	}
	f.restrictions = &restrictions
	return nil
}

func readRestrictions(value httpjson.Object) (r account.Restrictions, err error) {
	if err := value.Only("origins", "networks"); err != nil {
		return r, err
	}
	if r.Origins, _, err = value.Strings("origins"); err != nil {
		return r, err
	}
	if r.Networks, _, err = value.Strings("networks"); err != nil {
		return r, err
	}
	_, err = account.NewBounds(r)
	return r, err
}
