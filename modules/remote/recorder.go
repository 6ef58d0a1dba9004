package remote

import (
	"bytes"
	"errors"
	"math/bits"
	"net/http"
	"strconv"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
)

// recorder keeps a response of limited size in memory.
type recorder struct {
	header   http.Header
	status   int
	body     *bytes.Buffer
	limit    int64
	overflow bool // the response is larger than the limit
	memory   admission.Reservation
	refused  bool // there is no memory for the response
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBody is the largest buffer that is kept for other responses, in bytes.
const maxPooledBody = 1 << 20

// responseCost is the memory per byte of a response: the byte itself, and what is parsed from it.
const responseCost = 2

func newRecorder(limit int64, memory admission.Reservation) *recorder {
	return &recorder{header: make(http.Header), body: bodies.Get().(*bytes.Buffer), limit: limit, memory: memory}
}

// reset discards a response that was cut off.
func (r *recorder) reset() {
	clear(r.header)
	r.status, r.overflow, r.refused = 0, false, false
	r.body.Reset()
}

// cutOff reports whether the upstream ended the exchange in the middle of its response.
func (r *recorder) cutOff(err error) bool {
	return errors.Is(err, errCutOff) && !r.overflow && !r.refused
}

func (r *recorder) free() {
	r.memory.Release()
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
		return // 1xx is not the response
	}
	r.status = status
	length, err := strconv.ParseInt(r.header.Get("Content-Length"), 10, 64)
	r.overflow = err == nil && length > r.limit
}

var (
	errTooLarge = errors.New("the response is larger than max_response")
	errNoMemory = errors.New("there is no memory for the response")
)

// Write implements http.ResponseWriter. Its error ends the exchange.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.overflow || int64(r.body.Len())+int64(len(p)) > r.limit {
		r.overflow = true
		return 0, errTooLarge
	}
	if need := r.body.Len() + len(p); !r.memory.TryGrow(responseCost << bits.Len(uint(need-1))) { // buffers double
		r.refused = true
		return 0, errNoMemory
	}
	return r.body.Write(p)
}

// Flush implements http.Flusher.
func (r *recorder) Flush() {}

// Interface guards
var (
	_ http.ResponseWriter = (*recorder)(nil)
	_ http.Flusher        = (*recorder)(nil)
)
