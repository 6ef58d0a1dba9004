package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// receive reads the body of an answer to the end of the part, and lets that take the place of the copy.
func (m *Mirror) receive(ctx context.Context, have *localCopy, p *part, resp *http.Response, patience *patience) (
	done bool, err error,
) {
	body := patience.reader(resp.Body, func(n int) { m.change(func(s *Status) { s.Received += int64(n) }) })
	if p.size == 0 {
		same, err := m.receiveFirstPage(ctx, have, p, resp, body)
		if same || err != nil {
			return true, errors.Join(err, p.discard())
		}
	}
	m.change(func(s *Status) { s.Received, s.Size = p.size, p.whole })
	n, err := io.Copy(p.file, io.LimitReader(body, p.whole-p.size+1))
	p.size += n
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
		return false, errors.Join(err, p.discard()) // whoever else needs the disk gets the room back
	case p.size > p.whole:
		err := fmt.Errorf("is longer than the %d bytes that it says it has", p.whole)
		return false, errors.Join(&refusedError{err}, p.discard())
	case err != nil || p.size < p.whole:
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return false, &brokenError{p.origin.Checksum, p.size, p.whole, blame(ctx, err)}
	}
	patience.timer.Stop() // reading it again may take longer
	return true, m.take(ctx, p)
}

// receiveFirstPage begins the part, unless its first page shows that nothing is to be fetched: since it is the same
// file as the copy, or one that must be refused.
func (m *Mirror) receiveFirstPage(ctx context.Context, have *localCopy, p *part, resp *http.Response, body io.Reader) (
	same bool, err error,
) {
	page := make([]byte, region.AnnouncementSize)
	n, err := io.ReadFull(body, page)
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !(short && (resp.ContentLength < 0 || resp.ContentLength == int64(n))) {
		return false, &brokenError{"", 0, max(resp.ContentLength, int64(n)), blame(ctx, err)}
	}
	announced, err := region.ReadAnnouncement(page[:n])
	switch {
	case err != nil:
		return false, &refusedError{describe(err, resp.Header)}
	case have != nil && have.checksum == announced.Checksum:
		p.origin.Checksum, p.origin.Fetched = have.checksum, time.Now().UTC()
		m.found(&localCopy{have.checksum, p.origin})
		return true, p.origin.write(m.Path + originSuffix)
	case m.refused.isOf(announced.Checksum, p.origin) && m.refused.times >= maxRefusals:
		return false, m.refused.err
	case resp.ContentLength >= 0 && resp.ContentLength != announced.Size:
		return false, &refusedError{fmt.Errorf("has %d bytes, and its header says %d", resp.ContentLength, announced.Size)}
	case m.MaxSize > 0 && announced.Size > m.MaxSize:
		return false, &refusedError{fmt.Errorf("has %s, more than the %s of max_size",
			humanize.IBytes(uint64(announced.Size)), humanize.IBytes(uint64(m.MaxSize)))}
	}
	if free, known := m.free(m.Path); known && free < announced.Size {
		return false, fmt.Errorf("the file has %s, and the disk of the cache has %s left; make room, or set cache_dir",
			humanize.IBytes(uint64(announced.Size)), humanize.IBytes(uint64(free)))
	}
	p.whole, p.origin.Checksum = announced.Size, announced.Checksum
	if _, err := p.file.Write(page); err != nil {
		return false, err
	}
	p.size = int64(n)
	return false, p.origin.write(p.path + originSuffix)
}

// describe adds what a server says it sends, where that is no region file.
func describe(err error, h http.Header) error {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	if encoding := h.Get("Content-Encoding"); encoding != "" {
		kind += " in " + encoding
	}
	if kind == "" || kind == "application/octet-stream" {
		return err
	}
	return fmt.Errorf("%w (it is sent as %.60q)", err, kind)
}

// take checks a part that is whole, and lets it take the place of the copy.
func (m *Mirror) take(ctx context.Context, p *part) error {
	if err := m.Check(ctx, p.path); err != nil {
		var unread *fs.PathError
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // it can be checked when there is time
		case errors.As(err, &unread):
			return err // it says nothing of what is in the file
		}
		if !m.refused.isOf(p.origin.Checksum, p.origin) {
			m.refused = refusal{origin: *p.origin}
		}
		m.refused.times++
		m.refused.err = &refusedError{p.withoutPath(err)}
		return errors.Join(m.refused.err, p.discard())
	}
	if err := m.land(p); err != nil {
		return err
	}
	m.Logger.Info("a region file was fetched", zap.String("url", m.status.URL), zap.String("path", m.Path),
		zap.String("checksum", p.origin.Checksum), zap.Int64("bytes", p.whole))
	m.Replaced()
	m.found(&localCopy{p.origin.Checksum, p.origin}) // whoever waits for it finds it served
	return nil
}

// withoutPath takes the name of the part out of an error about it, and advice that is about files in their place.
func (p *part) withoutPath(err error) error {
	var damage *region.DamageError
	if errors.As(err, &damage) {
		return errors.New("is damaged: " + damage.Problem)
	}
	if problem, found := strings.CutPrefix(err.Error(), p.path+": "); found {
		return errors.New("cannot be served: " + problem)
	}
	return errors.New(strings.TrimPrefix(err.Error(), p.path+" "))
}
