package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gofrs/flock"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/newfile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

const (
	partSuffix = ".part"
	lockSuffix = ".lock"
)

// lockRetry is the time between looks while another process downloads the same copy.
const lockRetry = 200 * time.Millisecond

var errMapped = errors.New("the server has a new file, and Windows replaces no file that is in use; stop the server, " +
	"delete the file in cache_dir and start again")

// refusedError is a file that must not replace the copy.
type refusedError struct {
	err   error
	whole bool // all of it was received
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the server's file is refused: it %v; upload a file that `caddy maps info --verify` accepts", e.err)
}

func (e *refusedError) Unwrap() error { return e.err }

// localCopy is the region file at the mirror's path.
type localCopy struct {
	checksum string
	origin   *Origin // nil if it is not known
}

// readCopy returns nil if there is no copy that can be served: it may be damaged, or of a format that an upgrade of the
// server no longer reads.
func (m *Mirror) readCopy() *localCopy {
	if m.Damaged() {
		return nil
	}
	file, err := region.Open(m.Path)
	if err != nil {
		return nil
	}
	defer file.Release()
	c := &localCopy{checksum: file.Checksum()}
	c.origin, _ = ReadOrigin(m.Path, c.checksum) // without one, the request has no condition
	return c
}

// fetch asks the server for another file than the copy, and replaces the copy if there is one.
func (m *Mirror) fetch(ctx context.Context) error {
	lock := flock.New(m.Path + lockSuffix)
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return diskFailure(err)
	}
	defer func() { _ = lock.Unlock() }()
	have := m.readCopy()
	var known *Origin
	if have != nil {
		m.found(have.origin)
		known = have.origin
	}
	limited, stall, cancel := newStallTimeout(ctx, m.Timeout)
	defer cancel()
	req, err := m.newRequest(limited, known)
	if err != nil {
		return err
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return failure(limited, err)
	}
	defer resp.Body.Close()
	stall.Reader = resp.Body
	conditional := req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != ""
	switch {
	case resp.StatusCode == http.StatusNotModified && conditional:
		return nil
	case resp.StatusCode != http.StatusOK:
		return &statusError{resp.StatusCode, retryAfter(resp.Header)}
	}
	page, announced, err := m.readFirstPage(limited, resp, stall)
	if err != nil {
		return err
	}
	origin := m.originOf(resp.Header, announced.Checksum)
	switch {
	case have != nil && have.checksum == announced.Checksum:
		m.found(origin)
		return diskFailure(m.writeOrigin(origin))
	case have != nil && runtime.GOOS == "windows":
		return errMapped
	}
	part, err := m.receive(limited, page, announced.Size, stall)
	if err == nil {
		err = m.replace(ctx, part, origin, announced.Size)
	}
	return diskFailure(err)
}

// readFirstPage reads as much of a response as tells whether the file is one to receive.
func (m *Mirror) readFirstPage(ctx context.Context, resp *http.Response, body io.Reader) (
	page []byte, announced region.Announcement, err error,
) {
	page = make([]byte, region.AnnouncementSize)
	n, err := io.ReadFull(body, page)
	if err != nil && !errors.Is(err, io.EOF) && (!errors.Is(err, io.ErrUnexpectedEOF) || resp.ContentLength > int64(n)) {
		return nil, announced, failure(ctx, err)
	}
	announced, err = region.ReadAnnouncement(page[:n])
	switch {
	case err != nil:
		if kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); kind != "" {
			err = fmt.Errorf("%w (its Content-Type is %.60q)", err, kind)
		}
		return nil, announced, &refusedError{err: err}
	case resp.ContentLength >= 0 && resp.ContentLength != announced.Size:
		return nil, announced, &refusedError{err: fmt.Errorf("has %d bytes, and its header says %d", resp.ContentLength,
			announced.Size)}
	case m.MaxSize > 0 && announced.Size > m.MaxSize:
		return nil, announced, &refusedError{err: fmt.Errorf("has %s, more than the %s of max_size",
			humanize.IBytes(uint64(announced.Size)), humanize.IBytes(uint64(m.MaxSize)))}
	}
	return page[:n], announced, nil
}

// receive writes the file beside the copy. What a process that was killed has left there is overwritten.
func (m *Mirror) receive(ctx context.Context, page []byte, size int64, body io.Reader) (part *os.File, err error) {
	if part, err = os.OpenFile(m.Path+partSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	n, err := part.Write(page)
	have := int64(n)
	if err == nil {
		var more int64
		more, err = io.Copy(part, io.LimitReader(body, size-have+1))
		have += more
	}
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
	case have > size:
		err = &refusedError{err: fmt.Errorf("is longer than the %d bytes that its header says", size)}
	case err != nil || have < size:
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		err = fmt.Errorf("cut off after %s of %s: %w", humanize.IBytes(uint64(have)), humanize.IBytes(uint64(size)),
			failure(ctx, err))
	default:
		return part, nil
	}
	newfile.Discard(part)
	return nil, err
}

// replace lets a file that was received, and is found to be good, replace the copy.
func (m *Mirror) replace(ctx context.Context, part *os.File, origin *Origin, size int64) error {
	err := m.Check(ctx, part.Name())
	if err == nil {
		err = newfile.Place(part, m.Path)
	} else if _, unread := errors.AsType[*fs.PathError](err); !unread && ctx.Err() == nil {
		err = &refusedError{withoutPath(err, part.Name()), true}
	}
	if err != nil {
		newfile.Discard(part)
		return err
	}
	m.Logger.Info("a region file was fetched", zap.String("url", m.status.URL), zap.String("path", m.Path),
		zap.String("checksum", origin.Checksum), zap.Int64("bytes", size))
	m.Replaced()
	m.found(origin) // those that wait for the copy find it in service
	return m.writeOrigin(origin)
}

// diskFailure says what to do about a failing disk. The path is in the log only.
func diskFailure(err error) error {
	const advice = "the cache cannot be written to; make room, or check its directory: %w"
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf(advice, path.Err)
	}
	if rename, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf(advice, rename.Err)
	}
	return err
}

// withoutPath takes the path out of an error about a file, and advice that is about files of this machine.
func withoutPath(err error, path string) error {
	if damage, ok := errors.AsType[*region.DamageError](err); ok {
		return errors.New("is damaged: " + damage.Problem)
	}
	return errors.New(strings.TrimLeft(strings.TrimPrefix(err.Error(), path), ": "))
}
