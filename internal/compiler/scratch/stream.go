package scratch

// Stream is a temporary file that is written sequentially.
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

// Bytes returns all bytes that have been written. They are valid until more are.
func (s *Stream) Bytes() []byte { return s.bytes.Slice() }

// Free removes the file.
func (s *Stream) Free() error { return s.bytes.Free() }
