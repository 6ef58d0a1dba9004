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
	// lockRetry is the time between looks while another process downloads the same copy.
	lockRetry     = 200 * time.Millisecond
	maxRedirects  = 10
	maxRetryAfter = 24 * time.Hour
	chunk         = 64 << 10 // bytes that must come within the timeout
)

var (
	errStalled = errors.New("the server sends too little; check it and the network, or raise the timeout")
	errMapped  = errors.New("the server has a new file, and Windows replaces no file that is in use; stop the server, " +
		"delete the file in cache_dir and start again")
)

// laterError is a failure after which the next request waits at least for a time.
type laterError struct {
	error
	wait time.Duration
}

// refused says why a file must not replace the copy.
func refused(reason error) error {
	return fmt.Errorf("the server's file is refused: it %w; upload a file that `caddy maps info --verify` accepts", reason)
}

// newClient returns a client that follows redirects as far as that is safe. It uses the proxy of the environment.
func newClient(secret http.Header) *http.Client {
	return &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("the server redirects more than %d times", maxRedirects)
		case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
			return fmt.Errorf("the server redirects from https to %s, which is not followed", req.URL.Scheme)
		}
		req.Header.Del("Referer") // it would show the query to the next server
		if first := via[0].URL; first.Scheme != req.URL.Scheme || first.Host != req.URL.Host {
			for name := range secret {
				req.Header.Del(name)
			}
		}
		return nil
	}}
}

// newRequest asks for the file, if it is another one than known describes.
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

// failure returns why a request failed, without a URL: its query and userinfo may be secret, also those of a redirect.
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

// retryAfter reads the header, in seconds or as a date; 0 if there is none that can be read.
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

// readCopy returns the checksum of the copy and its origin, which has only a URL if nothing is known. The checksum is
// empty if there is no copy that can be served: it may be damaged, or of a format that the server no longer reads.
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

// fetch asks the server for another file than the copy, and replaces the copy if there is one.
func (m *Mirror) fetch(ctx context.Context) error {
	lock := flock.New(m.Path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	have, known := m.readCopy()
	m.cameFrom(known)

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
		return &laterError{fmt.Errorf("the server answers %d %s; check the region's URL and credentials, and the server",
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
		m.cameFrom(origin)
		return origin.write(m.Path)
	case have != "" && runtime.GOOS == "windows":
		return errMapped
	}

	// What a process that was killed has left is overwritten.
	part, err := os.OpenFile(m.Path+".part", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer files.Discard(part) // it has another name by then if all went well
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
	_ = m.Watched.Look(ctx, false) // what is wrong with it is logged
	m.cameFrom(origin)
	return origin.write(m.Path)
}

// announced reads the first page of a response, which tells whether the file is one to receive.
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

// receive writes what comes, and calls progress for each chunk. Without a minimum, a byte now and then
// would keep a download alive forever.
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

// check refuses a file that was received and is not good.
func (m *Mirror) check(ctx context.Context, path string, haveCopy bool) error {
	err := m.Watched.Check(ctx, path)
	if err == nil || errors.As(err, new(*fs.PathError)) || ctx.Err() != nil {
		return err
	}
	if damage, ok := errors.AsType[*region.DamageError](err); ok {
		err = errors.New(damage.Problem) // without its advice, which is for files of this machine
	}
	if err = refused(fmt.Errorf("cannot be served: %w", err)); haveCopy { // it would be downloaded whole each time
		err = &laterError{err, m.refresh()}
	}
	return err
}
