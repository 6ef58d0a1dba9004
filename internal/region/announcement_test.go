package region_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// The first page alone tells the size and the checksum of a file, and what is none.
func TestReadAnnouncement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, time.Time{}, 5000, testregion.Dover())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Release()
	want := region.Announcement{Size: int64(len(whole)), Checksum: file.Checksum()}
	page := whole[:region.AnnouncementSize]
	if got, err := region.ReadAnnouncement(page); got != want || err != nil {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	flipped := []byte(string(page))
	flipped[100] ^= 1
	for want, page := range map[string][]byte{
		"is not a region file":            []byte("<!DOCTYPE html>" + strings.Repeat(" ", len(page))),
		"truncated":                       page[:len(page)-1],
		"is damaged":                      flipped,
		"older version (region format 0":  []byte(string(page[:8]) + "\x00\x00\x00\x00" + string(page[12:])),
		"older version: compile it again": []byte("\x89CMAPS\r\n\x03\x00\x00\x00" + string(page[12:])),
	} {
		if got, err := region.ReadAnnouncement(page); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want an error with %q", got, err, want)
		}
	}
	if _, err := region.ReadAnnouncement(nil); err == nil {
		t.Error("nothing was taken for a page")
	}
}
