package usageapi

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// A cursor identifies a list and the end of a page in it. It contains the times of the first page, so that a list
// without an explicit end does not grow while it is read.

// cursorVersion is the first part of a cursor. Another format would have another version.
const cursorVersion = "1"

var (
	errCursor      = errors.New("cursor: is not one that a page gave")
	errOtherCursor = errors.New("cursor: is that of another list; repeat the parameters of its first page")
)

// fingerprint identifies a list by all its parameters except the times.
func (r *Request) fingerprint() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", r.Organization, r.Account, r.Scope, r.Step))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// cursorAfter returns the cursor for the page after a row.
func (r *Request) cursorAfter(last usage.Row) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%s:%d:%d:%d:%s:%s", cursorVersion, r.fingerprint(),
		r.From.Unix(), r.To.Unix(), last.Start.Unix(), last.Account, last.Scope))
}

// resume continues the list at a cursor.
func (r *Request) resume(cursor string) error {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	parts := strings.Split(string(text), ":")
	if err != nil || len(parts) != 7 || parts[0] != cursorVersion {
		return errCursor
	}
	var unix [3]int64
	for i, part := range parts[2:5] {
		if unix[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return errCursor
		}
	}
	from, to, start := time.Unix(unix[0], 0).UTC(), time.Unix(unix[1], 0).UTC(), unix[2]
	if begin, _ := r.Step.Span(from); from.Unix() < 0 || to.Year() > 10000 || start < from.Unix() || start >= to.Unix() ||
		!begin.Equal(from) || !isID(parts[5]) || !isScope(account.Scope(parts[6])) {
		return errCursor
	}
	if parts[1] != r.fingerprint() || r.given.Has("from") && !from.Equal(r.From) ||
		r.given.Has("to") && !to.Equal(r.To) {
		return errOtherCursor
	}
	r.From, r.To = from, to
	r.After = &usage.Position{Start: start, Account: parts[5], Scope: account.Scope(parts[6])}
	return nil
}
