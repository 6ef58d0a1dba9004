package usageapi

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// Page is one page of a list.
type Page struct {
	Data       []usage.Row `json:"data"`
	NextCursor *string     `json:"nextCursor"` // nil on the last one
}

// flushLimit is how long a response waits until the store has what this server has counted.
const flushLimit = 2 * time.Second

// queryLimit is how long the store may look for the rows of a page: among many accounts there may be few that are asked
// for.
const queryLimit = 10 * time.Second

// Meter is what counts on this server.
type Meter interface {
	// Flush hands what was counted so far to the store, and returns when it is there.
	Flush(ctx context.Context) error
}

// Settle hands what was counted so far on this server to the store, so that a response includes it. While the store
// does not take it, responses are without it.
func Settle(ctx context.Context, meter Meter) {
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	_ = meter.Flush(ctx)
}

const (
	mediaJSON = "application/json"
	mediaCSV  = "text/csv"
)

// Serve writes one page, as CSV where the client prefers that, with the address of the next page in Link. The error is
// the store's, or says that it took too long, and nothing was written then.
func (r *Request) Serve(w http.ResponseWriter, req *http.Request, meter Meter, store usage.Store) error {
	page, err := r.page(req.Context(), meter, store)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Add("Vary", "Accept")
	if request.PreferredType(req.Header, mediaJSON, mediaCSV) == mediaJSON {
		request.WriteJSON(w, http.StatusOK, page)
		return nil
	}
	if page.NextCursor != nil {
		r.given.Set("cursor", *page.NextCursor)
		// Relative to this page's own address, whatever proxies have made of that.
		h.Set("Link", "<?"+r.given.Encode()+`>; rel="next"`)
	}
	var body bytes.Buffer
	if err := WriteCSV(&body, page.Data, true); err != nil {
		return err
	}
	h.Set("Content-Type", mediaCSV+"; charset=utf-8; header=present")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body.Bytes()) // a client that has gone is nobody to tell
	return nil
}

func (r *Request) page(ctx context.Context, meter Meter, store usage.Store) (Page, error) {
	Settle(ctx, meter)
	query := r.Query
	query.Limit++ // one more tells whether there is a next page
	limited, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	rows, err := store.Usage(limited, query)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return Page{}, apierror.TooSlow()
	case err != nil:
		return Page{}, err
	}
	page := Page{Data: rows}
	if len(rows) > r.Limit {
		page.Data = rows[:r.Limit]
		next := r.cursorAfter(page.Data[r.Limit-1])
		page.NextCursor = &next
	}
	if page.Data == nil {
		page.Data = []usage.Row{}
	}
	return page, nil
}

// WriteCSV writes rows as RFC 4180 has it, with or without the line of names. No value needs quotes, and none begins
// with a character that a spreadsheet takes for that of a formula: a time, an id, a scope and numbers.
func WriteCSV(w io.Writer, rows []usage.Row, header bool) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if header {
		_ = out.Write([]string{"start", "account", "scope", "requests", "refused", "errors", "units"}) // Error has it
	}
	for _, row := range rows {
		record := []string{row.Start.UTC().Format(time.RFC3339), row.Account, string(row.Scope)}
		for _, n := range []int64{row.Requests, row.Refused, row.Errors, row.Units} {
			record = append(record, strconv.FormatInt(n, 10))
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}
