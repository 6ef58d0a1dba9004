package region

import "encoding/hex"

// Announcement is what the first page of a region file says about the file: a download knows early what is coming.
type Announcement struct {
	// Size is the size of the file in bytes.
	Size int64
	// Checksum is the value of File.Checksum.
	Checksum string
}

// AnnouncementSize is the size in bytes of the first page of a region file.
const AnnouncementSize = headerSize

// ReadAnnouncement reads the first page of a region file. The error is worded to follow a name: "is truncated: …".
func ReadAnnouncement(page []byte) (Announcement, error) {
	// The size of the file is unknown; the first call finds it.
	h, err := decodeHeader(page, 0)
	if h.fileSize > 0 {
		h, err = decodeHeader(page, int64(h.fileSize))
	}
	if err != nil {
		return Announcement{}, err
	}
	return Announcement{Size: int64(h.fileSize), Checksum: hex.EncodeToString(h.identity[:])}, nil
}
