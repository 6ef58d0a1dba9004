package answer

import "sync"

// Buffer is memory for a response that is being written. It comes from a pool and goes back there.
type Buffer struct{ Bytes []byte }

// maxPooled is the largest buffer that is kept, so that one large response does not hold memory for good.
const maxPooled = 1 << 20

var buffers = sync.Pool{New: func() any { return &Buffer{Bytes: make([]byte, 0, 4096)} }}

// GetBuffer returns an empty buffer.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free gives the buffer back; it must not be used any more.
func (b *Buffer) Free() {
	if cap(b.Bytes) > maxPooled {
		return
	}
	b.Bytes = b.Bytes[:0]
	buffers.Put(b)
}
