package accounts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
)

// maxDescription is the longest description, in characters.
const maxDescription = 500

var fieldNames = []string{"platform", "isAdmin", "description", "scopes", "status"}

// fields are the fields of a body; nil for those that it does not have.
type fields struct {
	platform    *account.Platform
	isAdmin     *bool
	description *string
	scopes      *account.Scopes
	status      *account.Status
}

// parseFields reads a body. The error names the field that is wrong and is shown to the client.
func parseFields(body httpjson.Object) (fields, error) {
	var f fields
	if err := body.Only(fieldNames...); err != nil {
		return f, err
	}
	for _, parse := range []func(httpjson.Object) error{
		f.parsePlatform, f.parseIsAdmin, f.parseDescription, f.parseScopes, f.parseStatus,
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
	case strings.ContainsRune(value, 0):
		return errors.New("description: must not contain the character NUL")
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
