package browsertest

import (
	"os"
)

// maxPicture is how large a picture of the documentation may be, in bytes.
const maxPicture = 300 << 10

// Picture takes the picture of a page for the documentation. It fails the test where there is nothing to see or the
// file would be too large, and writes it to path only where MAPS_TEST_PICTURES is set, so that tests change no files by
// themselves.
func (b *Tab) Picture(path string) {
	b.t.Helper()
	png, err := paletted(b.Screenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if len(png) < 10<<10 || len(png) > maxPicture {
		b.t.Errorf("%s has %d bytes", path, len(png))
	}
	if os.Getenv("MAPS_TEST_PICTURES") == "" {
		return
	}
	if err := os.WriteFile(path, png, 0o644); err != nil {
		b.t.Error(err)
	}
}
