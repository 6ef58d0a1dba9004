package answer

import "sync"

// Buffer is a pooled buffer for a response.
type Buffer struct{ Bytes []byte }

// maxPooled is the maximum size of buffers in the pool, so that large responses do not keep memory.
const maxPooled = 1 << 20

var buffers = sync.Pool{New: func() any { return &Buffer{Bytes: make([]byte, 0, 4096)} }}

// GetBuffer returns an empty buffer.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free returns the buffer to the pool. It must not be used afterwards.
func (b *Buffer) Free() {
	if cap(b.Bytes) > maxPooled {
		return
	}
	b.Bytes = b.Bytes[:0]
	buffers.Put(b)
}
