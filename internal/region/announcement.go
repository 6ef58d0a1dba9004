package region

import "encoding/hex"

// Announcement is what the first page of a region file says of the whole, so that somebody who receives one knows after
// a few bytes what is coming.
type Announcement struct {
	// Size is that of the file, in bytes.
	Size int64
	// Checksum is what File.Checksum will say.
	Checksum string
}

// AnnouncementSize is how many bytes at the beginning of a region file are its first page.
const AnnouncementSize = headerSize

// ReadAnnouncement reads the first page of a region file. The error says what it is the beginning of instead, in words
// that follow a name: "is truncated: …".
func ReadAnnouncement(page []byte) (Announcement, error) {
	// The page is checked without the size of the file first, which only a page that is whole can tell.
	h, err := decodeHeader(page, 0)
	if h.fileSize > 0 {
		h, err = decodeHeader(page, int64(h.fileSize))
	}
	if err != nil {
		return Announcement{}, err
	}
	return Announcement{Size: int64(h.fileSize), Checksum: hex.EncodeToString(h.identity[:])}, nil
}
