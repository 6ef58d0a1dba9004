package mirror

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
)

const (
	partSuffix = ".part"
	lockSuffix = ".lock"
)

// localCopy is the region file at the mirror's path.
type localCopy struct {
	checksum string
	origin   *Origin // nil where nobody knows
}

// readCopy returns nil where there is no copy that could be served: of another format, say, after an upgrade, or a
// damaged one.
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
	if origin, err := ReadOrigin(m.Path, c.checksum); err == nil {
		c.origin = origin
	}
	return c
}

// part is what has come of a file so far. It survives the process, together with where it came from, so that it is
// resumed after a restart.
type part struct {
	path   string
	file   *os.File // nil where nothing has come
	size   int64    // bytes that are there
	whole  int64    // bytes of the file that it is a part of; 0 before its first page has come
	origin *Origin  // where it came from, as far as it is known; its checksum is the file's
}

func (m *Mirror) partPath() string { return m.Path + partSuffix }

// openPart opens what an attempt before has left, and removes it where it cannot be resumed.
func (m *Mirror) openPart() (*part, error) {
	p := &part{path: m.partPath()}
	var err error
	if p.file, err = os.OpenFile(p.path, os.O_RDWR, 0); errors.Is(err, fs.ErrNotExist) {
		p.file = nil
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if !m.resume(p) {
		return p, p.discard()
	}
	return p, nil
}

// resume reports whether what is there is the beginning of what the URL leads to, and can be asked to be continued. The
// query may be another, such as a new signature: that the parts belong together is checked when all have come.
func (m *Mirror) resume(p *part) bool {
	origin, err := readOriginFile(p.path + originSuffix)
	if err != nil || origin.URL != Redact(m.URL) || origin.rangeValidator() == "" {
		return false
	}
	page := make([]byte, region.AnnouncementSize)
	if _, err := p.file.ReadAt(page, 0); err != nil {
		return false
	}
	announced, err := region.ReadAnnouncement(page)
	if err != nil {
		return false
	}
	end, err := p.file.Seek(0, io.SeekEnd)
	if err != nil || end > announced.Size {
		return false
	}
	p.size, p.whole, p.origin = end, announced.Size, origin
	return true
}

// begin begins the part anew.
func (p *part) begin(origin *Origin) (err error) {
	if err := p.discard(); err != nil {
		return err
	}
	p.origin = origin
	p.file, err = os.OpenFile(p.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	return err
}

// discard removes the part, with the room that it takes on the disk.
func (p *part) discard() error {
	err := p.close()
	for _, path := range []string{p.path, p.path + originSuffix} {
		if failed := os.Remove(path); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	p.size, p.whole, p.origin = 0, 0, nil
	return err
}

// close keeps the part for another attempt.
func (p *part) close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// land lets a part that is whole take the place of the copy. What it came from is written first beside the part, and
// takes its place last: an origin that is about another file than the one beside it counts for nothing.
func (m *Mirror) land(p *part) error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	p.origin.Fetched = time.Now().UTC()
	if err := p.origin.write(p.path + originSuffix); err != nil {
		return err
	}
	if err := p.close(); err != nil {
		return err
	}
	if err := os.Rename(p.path, m.Path); err != nil {
		return err
	}
	return os.Rename(p.path+originSuffix, m.Path+originSuffix)
}
