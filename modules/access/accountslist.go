package access

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// listing is a page of accounts.
type listing struct {
	Data       []account.Account `json:"data"`
	NextCursor *string           `json:"nextCursor"`
}

func (a *Accounts) list(c *call) error {
	page, err := parsePage(c.r.URL.RawQuery)
	if err != nil {
		return apierror.FailedValidation(err.Error())
	}
	limit := page.Limit
	page.Limit++ // one more tells whether there is a next page
	found, err := c.session.Store.Accounts(c.r.Context(), c.caller.organization, page)
	if err != nil {
		return err
	}
	answer := listing{Data: found}
	if len(found) > limit {
		answer.Data = found[:limit]
		next := encodeCursor(found[limit-1].ID)
		answer.NextCursor = &next
	}
	if answer.Data == nil {
		answer.Data = []account.Account{}
	}
	request.WriteJSON(c.w, http.StatusOK, answer)
	return nil
}

// parsePage reads the parameters of a list. Errors name the parameter. Unknown parameters are ignored.
func parsePage(query string) (account.Page, error) {
	page := account.Page{Limit: defaultLimit}
	given, err := url.ParseQuery(query)
	if err != nil {
		return page, errors.New("query: is not well-formed")
	}
	for _, name := range []string{"limit", "cursor", "status"} {
		if len(given[name]) > 1 {
			return page, fmt.Errorf("%s: appears more than once", name)
		}
	}
	if given.Has("limit") {
		if page.Limit, err = strconv.Atoi(given.Get("limit")); err != nil || page.Limit < 1 || page.Limit > maxLimit {
			return page, fmt.Errorf("limit: must be a whole number from 1 to %d", maxLimit)
		}
	}
	if given.Has("status") {
		if page.Status = account.Status(given.Get("status")); !page.Status.Valid() {
			return page, errors.New("status: must be ACTIVE, SUSPENDED or REVOKED")
		}
	}
	if cursor := given.Get("cursor"); cursor != "" { // empty for the first page
		page.After, err = decodeCursor(cursor)
	}
	return page, err
}

// cursorPrefix begins a cursor, before the id, so that later formats can be recognized.
const cursorPrefix = "1:"

func encodeCursor(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + id))
}

var errCursor = errors.New("cursor: is not one that a list gave")

func decodeCursor(cursor string) (id string, err error) {
	if len(cursor) <= base64.RawURLEncoding.EncodedLen(len(cursorPrefix)+maxIDLength) {
		text, decodeErr := base64.RawURLEncoding.Strict().DecodeString(cursor)
		if id, known := strings.CutPrefix(string(text), cursorPrefix); decodeErr == nil && known && id != "" {
			return id, nil
		}
	}
	return "", errCursor
}
