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
	NextCursor *string     `json:"nextCursor"` // nil on the last page
}

// flushTimeout is how long a response waits for the flush of this server's counts.
const flushTimeout = 2 * time.Second

// queryTimeout is how long the store may search for the rows of a page.
const queryTimeout = 10 * time.Second

// Meter counts usage on this server.
type Meter interface {
	// Flush sends all counts so far to the store.
	Flush(ctx context.Context) error
}

// Flush sends the counts of this server to the store, so that a response includes them. If that fails, the response
// lacks them.
func Flush(ctx context.Context, meter Meter) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	_ = meter.Flush(ctx)
}

const (
	mediaJSON = "application/json"
	mediaCSV  = "text/csv"
)

// Serve writes one page. If the client prefers CSV, the URL of the next page is in a Link header. After an error, which
// is that of the store or a timeout, nothing was written.
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
		// Relative, so that it is right behind proxies.
		h.Set("Link", "<?"+r.given.Encode()+`>; rel="next"`)
	}
	var body bytes.Buffer
	if err := WriteCSV(&body, page.Data, true); err != nil {
		return err
	}
	h.Set("Content-Type", mediaCSV+"; charset=utf-8; header=present")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body.Bytes()) // an error means that the client has gone
	return nil
}

func (r *Request) page(ctx context.Context, meter Meter, store usage.Store) (Page, error) {
	Flush(ctx, meter)
	query := r.Query
	query.Limit++ // one more shows whether there is a next page
	limited, cancel := context.WithTimeout(ctx, queryTimeout)
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

// WriteCSV writes rows as CSV (RFC 4180), with or without the header line. No value (times, ids, scopes and numbers)
// needs quotes, or could be a formula in a spreadsheet.
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
