package scratch

import (
	"bytes"
	"io"
)

// Stream is a temporary file that is written and read sequentially.
type Stream struct{ bytes *Array[byte] }

// NewStream makes an empty stream. Its file is created with the first byte.
func NewStream(d *Dir, name string) *Stream { return &Stream{NewArray[byte](d, name)} }

// Write adds bytes.
func (s *Stream) Write(p []byte) (int, error) {
	if err := s.bytes.Append(p...); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Reader returns a reader of all bytes that have been written.
func (s *Stream) Reader() (io.Reader, error) { return bytes.NewReader(s.bytes.Slice()), nil }

// Free removes the file.
func (s *Stream) Free() error { return s.bytes.Free() }
