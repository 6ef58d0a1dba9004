package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// maxQuestions bounds an attempt: what an attempt before has left is put in its place, a range that the server does not
// have is given up, and then there is one question more.
const maxQuestions = 3

// fetch asks the server for another file than the copy, and lets it take the copy's place where there is one.
func (m *Mirror) fetch(ctx context.Context) error {
	lock := flock.New(m.Path + lockSuffix)
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return explain(err)
	case !locked:
		return errBusy
	}
	defer func() { _ = lock.Unlock() }()
	for range maxQuestions {
		have := m.readCopy()
		if have != nil {
			m.found(have)
		}
		if done, err := m.ask(ctx, have); done || err != nil {
			return explain(err)
		}
	}
	return errors.New("the server answers no question for a part of the file, nor for all of it; look at what is between")
}

// explain says what to do where the disk is at fault. The path is in the log, and not for everybody who sees the error.
func explain(err error) error {
	const advice = "the cache cannot be written to; make room, or look at its directory: %w"
	var path *fs.PathError
	var rename *os.LinkError
	switch {
	case errors.As(err, &path):
		return fmt.Errorf(advice, path.Err)
	case errors.As(err, &rename):
		return fmt.Errorf(advice, rename.Err)
	}
	return err
}

// ask asks one question. It is done unless another one has to be asked.
func (m *Mirror) ask(ctx context.Context, have *localCopy) (done bool, err error) {
	p, err := m.openPart()
	if err != nil {
		return false, err
	}
	defer func() { _ = p.close() }() // what was written is checked before it is served
	if p.whole > 0 && p.size == p.whole {
		return false, m.take(ctx, p) // left by a process that ended just then; the server may have a newer one
	}
	patient, cancel, patience := newPatience(ctx, m.Timeout)
	defer cancel()
	req, err := m.question(patient, have, p)
	if err != nil {
		return false, err
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return false, blame(patient, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && conditional(req):
		return true, p.discard()
	case resp.StatusCode == http.StatusPartialContent && p.size > 0:
		if err := p.continuedBy(resp.Header); err != nil {
			return false, errors.Join(err, p.discard())
		}
	case resp.StatusCode == http.StatusOK:
		if err := p.begin(m.originOf(resp.Header)); err != nil {
			return false, err
		}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && p.size > 0:
		return false, p.discard()
	default:
		return false, &statusError{resp.StatusCode, retryAfter(resp.Header)}
	}
	return m.receive(patient, have, p, resp, patience)
}

// question is a request for all that is not there yet, if it is another file than the copy.
func (m *Mirror) question(ctx context.Context, have *localCopy, p *part) (*http.Request, error) {
	req, err := newRequest(ctx, m.URL, m.Header)
	if err != nil {
		return nil, err
	}
	if have != nil && have.origin != nil && have.origin.isOf(m.URL) {
		have.origin.setConditions(req.Header)
	}
	if p.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		req.Header.Set("If-Range", p.origin.rangeValidator())
	}
	return req, nil
}

func conditional(req *http.Request) bool {
	return req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != ""
}

// continuedBy reports why an answer of status 206 does not continue the part.
func (p *part) continuedBy(h http.Header) error {
	if tag := h.Get("ETag"); tag != "" && tag != p.origin.ETag {
		return errors.New("the server continues another file than the one that was begun; it will be begun anew")
	}
	var from, to int64
	var whole string
	if n, _ := fmt.Sscanf(h.Get("Content-Range"), "bytes %d-%d/%s", &from, &to, &whole); n != 3 || from != p.size ||
		whole != "*" && whole != strconv.FormatInt(p.whole, 10) {
		return fmt.Errorf("the server sends another part than the one from byte %d on; all will be fetched anew", p.size)
	}
	return nil
}

// blame returns why a request failed: with what the context ended, or what the network says.
func blame(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	err = withoutURL(err)
	if strings.Contains(err.Error(), "Location header") {
		return errors.New("the server redirects to what is no URL") // the header may hold a signature
	}
	return fmt.Errorf("the server cannot be asked: %w", err)
}
