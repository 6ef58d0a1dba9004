package upstream

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"sync"
)

// recorder keeps an answer of limited size in memory.
type recorder struct {
	header   http.Header
	status   int
	body     *bytes.Buffer
	limit    int64
	overflow bool // the answer is larger than the limit
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBody is the size of the largest buffer that is kept for the next answer.
const maxPooledBody = 1 << 20

func newRecorder(limit int64) *recorder {
	return &recorder{header: make(http.Header), body: bodies.Get().(*bytes.Buffer), limit: limit}
}

// reset forgets an answer that broke off.
func (r *recorder) reset() {
	clear(r.header)
	r.status, r.overflow = 0, false
	r.body.Reset()
}

func (r *recorder) free() {
	if r.body.Cap() <= maxPooledBody {
		r.body.Reset()
		bodies.Put(r.body)
	}
	r.body = nil
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status != 0 || status < http.StatusOK {
		return // 1xx goes before the answer
	}
	r.status = status
	length, err := strconv.ParseInt(r.header.Get("Content-Length"), 10, 64)
	r.overflow = err == nil && length > r.limit
}

var errTooLarge = errors.New("the answer is larger than max_response")

// Write implements http.ResponseWriter. Its error ends the exchange.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.overflow || int64(r.body.Len())+int64(len(p)) > r.limit {
		r.overflow = true
		return 0, errTooLarge
	}
	return r.body.Write(p)
}

// Flush implements http.Flusher: there is nothing to wait for.
func (r *recorder) Flush() {}

// Interface guards
var (
	_ http.ResponseWriter = (*recorder)(nil)
	_ http.Flusher        = (*recorder)(nil)
)
