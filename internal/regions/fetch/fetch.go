package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gofrs/flock"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/region"
)

const (
	// lockRetry is the interval of attempts while another process downloads the same copy.
	lockRetry     = 200 * time.Millisecond
	maxRedirects  = 10
	maxRetryAfter = 24 * time.Hour
	chunk         = 64 << 10 // bytes that must arrive within the timeout
)

var (
	errStalled = errors.New("the server sends too little; check it and the network, or raise the timeout")
	errMapped  = errors.New("the server has a new file, and Windows replaces no file that is in use; stop the server, " +
		"delete the file in cache_dir and start again")
)

// retryError is a failure with a minimum time until the next request.
type retryError struct {
	error
	wait time.Duration
}

// refused returns the error for a file that must not replace the copy.
func refused(reason error) error {
	return fmt.Errorf("the server's file is refused: it %w; upload a file that `caddy maps info --verify` accepts", reason)
}

// newClient returns a client that follows only safe redirects. It uses the proxy of the environment.
func newClient(secret http.Header) *http.Client {
	return &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("the server redirects more than %d times", maxRedirects)
		case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
			return fmt.Errorf("the server redirects from https to %s, which is not followed", req.URL.Scheme)
		}
		req.Header.Del("Referer") // would show the query to the next server
		if first := via[0].URL; first.Scheme != req.URL.Scheme || first.Host != req.URL.Host {
			for name := range secret {
				req.Header.Del(name)
			}
		}
		return nil
	}}
}

// newRequest returns a request for the file, conditional on the known one.
func (m *Mirror) newRequest(ctx context.Context, known *Origin) *http.Request {
	header := http.Header{"User-Agent": {"caddy-maps"}}
	maps.Copy(header, m.Header)
	header.Set("Accept-Encoding", "identity")
	switch {
	case known.Source != sourceOf(m.URL):
	case known.ETag != "":
		header.Set("If-None-Match", known.ETag)
	case known.LastModified != "":
		header.Set("If-Modified-Since", known.LastModified)
	}
	req := &http.Request{Method: http.MethodGet, URL: m.URL, Header: header, Host: header.Get("Host")}
	return req.WithContext(ctx)
}

// failure returns why a request failed, without URLs, of which the query and the userinfo may be secret.
func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if strings.Contains(err.Error(), "Location header") {
		return errors.New("the server redirects to an invalid URL") // the header may hold a signature
	}
	return fmt.Errorf("the request failed: %w", err)
}

// retryAfter reads the header, in seconds or as a date. It returns 0 if the header is missing or malformed.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		wait = time.Until(date)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// readCopy returns the checksum of the copy and its origin, which has only a URL if it is unknown. The checksum is
// empty if there is no copy, or if it is damaged or has an old format.
func (m *Mirror) readCopy() (checksum string, known *Origin) {
	known = &Origin{URL: Redact(m.URL)}
	if m.Watched.Damaged() {
		return "", known
	}
	file, err := region.Open(m.Path)
	if err != nil {
		return "", known
	}
	defer file.Release()
	return file.Checksum(), cmp.Or(ReadOrigin(m.Path, file.Checksum()), known)
}

// fetch requests the file, and replaces the copy if it has changed.
func (m *Mirror) fetch(ctx context.Context) error {
	lock := flock.New(m.Path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	have, known := m.readCopy()
	m.setOrigin(known)

	limited, cancel := context.WithCancelCause(ctx)
	stall := time.AfterFunc(m.Timeout, func() { cancel(errStalled) })
	defer cancel(nil)
	defer stall.Stop()
	req := m.newRequest(limited, known)
	resp, err := m.client.Do(req)
	if err != nil {
		return failure(limited, err)
	}
	defer resp.Body.Close()
	condition := req.Header.Get("If-None-Match") + req.Header.Get("If-Modified-Since")
	switch {
	case resp.StatusCode == http.StatusNotModified && condition != "":
		return nil
	case resp.StatusCode != http.StatusOK:
		return &retryError{fmt.Errorf("the server answers %d %s; check the region's URL and credentials, and the server",
			resp.StatusCode, http.StatusText(resp.StatusCode)), retryAfter(resp.Header)}
	}
	page := make([]byte, region.AnnouncementSize)
	n, err := io.ReadFull(resp.Body, page)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return failure(limited, err)
	}
	announced, err := m.announced(page[:n], resp)
	if err != nil {
		return refused(err)
	}
	origin := &Origin{URL: Redact(m.URL), ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified"),
		Fetched: time.Now().UTC(), Checksum: announced.Checksum, Source: sourceOf(m.URL)}
	switch {
	case have == announced.Checksum:
		m.setOrigin(origin)
		return origin.write(m.Path)
	case have != "" && runtime.GOOS == "windows":
		return errMapped
	}

	// Overwrites what a killed process may have left.
	part, err := os.OpenFile(m.Path+".part", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer files.Discard(part) // after success, it has another name
	whole := io.MultiReader(bytes.NewReader(page), resp.Body)
	if err := receive(limited, part, whole, announced.Size, func() { stall.Reset(m.Timeout) }); err != nil {
		return err
	}
	if err := m.check(ctx, part.Name(), have != ""); err != nil {
		return err
	}
	if err := files.Rename(part, m.Path, 0o644); err != nil {
		return err
	}
	m.Logger.Info("a region file was fetched", zap.String("url", origin.URL), zap.String("path", m.Path),
		zap.String("checksum", announced.Checksum), zap.Int64("bytes", announced.Size))
	_ = m.Watched.Poll(ctx, false) // logs errors
	m.setOrigin(origin)
	return origin.write(m.Path)
}

// announced checks the first page of a response.
func (m *Mirror) announced(page []byte, resp *http.Response) (region.Announcement, error) {
	announced, err := region.ReadAnnouncement(page)
	switch {
	case err != nil:
		err = fmt.Errorf("%w (its Content-Type is %.60q)", err, resp.Header.Get("Content-Type"))
	case resp.ContentLength >= 0 && resp.ContentLength != announced.Size:
		err = fmt.Errorf("has %d bytes, and its header says %d", resp.ContentLength, announced.Size)
	case m.MaxSize > 0 && announced.Size > m.MaxSize:
		err = fmt.Errorf("has %s, more than the %s of max_size", humanize.IBytes(uint64(announced.Size)),
			humanize.IBytes(uint64(m.MaxSize)))
	}
	return announced, err
}

// receive writes the body to a file, and calls progress for each chunk. Without a minimum size of chunks, a server that
// sends single bytes would keep a download alive forever.
func receive(ctx context.Context, part *os.File, body io.Reader, size int64, progress func()) error {
	buf := make([]byte, chunk)
	for have := int64(0); ; progress() {
		n, err := io.ReadFull(body, buf)
		have += int64(n)
		if have > size {
			return refused(fmt.Errorf("is longer than the %d bytes that its header says", size))
		}
		if _, err := part.Write(buf[:n]); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF) && have == size, errors.Is(err, io.ErrUnexpectedEOF) && have == size:
			return nil
		case err != nil:
			return fmt.Errorf("cut off after %s of %s: %w", humanize.IBytes(uint64(have)), humanize.IBytes(uint64(size)),
				failure(ctx, err))
		}
	}
}

// check refuses a downloaded file that cannot be served.
func (m *Mirror) check(ctx context.Context, path string, haveCopy bool) error {
	err := m.Watched.Check(ctx, path)
	if err == nil || errors.As(err, new(*fs.PathError)) || ctx.Err() != nil {
		return err
	}
	if damage, ok := errors.AsType[*region.DamageError](err); ok {
		err = errors.New(damage.Problem) // without the advice for local files
	}
	if err = refused(fmt.Errorf("cannot be served: %w", err)); haveCopy { // so that it is not downloaded again soon
		err = &retryError{err, m.refresh()}
	}
	return err
}
