package scratch

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// Stream is a temporary file that is written from its beginning to its end, and then read the same way.
type Stream struct {
	dir    *Dir
	name   string
	file   *os.File
	w      *bufio.Writer
	length int64
}

const streamBuffer = 64 << 10

// NewStream makes an empty stream. There is no file before the first byte.
func NewStream(d *Dir, name string) *Stream { return &Stream{dir: d, name: name} }

// Len is how many bytes were written.
func (s *Stream) Len() int64 { return s.length }

// Write adds bytes.
func (s *Stream) Write(p []byte) (int, error) {
	if s.file == nil {
		var err error
		if s.file, err = s.dir.create(s.name, nil); err != nil {
			return 0, fmt.Errorf("temporary files: %w", err)
		}
		s.w = bufio.NewWriterSize(s.file, streamBuffer)
	}
	n, err := s.w.Write(p)
	s.length += int64(n)
	s.dir.grow(int64(n))
	if err != nil {
		return n, fmt.Errorf("temporary files: %w", err)
	}
	return n, nil
}

// Reader reads all that was written until now.
func (s *Stream) Reader() (io.Reader, error) {
	if s.file == nil {
		return eof{}, nil
	}
	if err := s.w.Flush(); err != nil {
		return nil, fmt.Errorf("temporary files: %w", err)
	}
	return bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.length), streamBuffer), nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Free removes the file.
func (s *Stream) Free() error {
	if s.file == nil {
		return nil
	}
	f, size := s.file, s.length
	s.file, s.w, s.length = nil, nil, 0
	return s.dir.remove(f, size)
}
