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

// listing is a page of a list.
type listing[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"nextCursor"`
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
	writePage(c.w, found, limit, func(acc *account.Account) string { return acc.ID })
	return nil
}

// writePage answers with at most limit of the elements that were found. The cursor of the next page has the key of the
// last one.
func writePage[T any](w http.ResponseWriter, found []T, limit int, key func(*T) string) {
	answer := listing[T]{Data: found}
	if len(found) > limit {
		answer.Data = found[:limit]
		next := encodeCursor(key(&found[limit-1]))
		answer.NextCursor = &next
	}
	if answer.Data == nil {
		answer.Data = []T{}
	}
	request.WriteJSON(w, http.StatusOK, answer)
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

// cursorPrefix begins a cursor, before an id or a name, so that later formats can be recognized.
const cursorPrefix = "1:"

// maxCursorKey is the longest id or name in a cursor, in bytes.
const maxCursorKey = 255

func encodeCursor(key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + key))
}

var errCursor = errors.New("cursor: is not one that a list gave")

func decodeCursor(cursor string) (key string, err error) {
	if len(cursor) <= base64.RawURLEncoding.EncodedLen(len(cursorPrefix)+maxCursorKey) {
		text, decodeErr := base64.RawURLEncoding.Strict().DecodeString(cursor)
		if key, known := strings.CutPrefix(string(text), cursorPrefix); decodeErr == nil && known && key != "" {
			return key, nil
		}
	}
	return "", errCursor
}
