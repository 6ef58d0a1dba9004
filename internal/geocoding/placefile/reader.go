package placefile

import (
	"encoding/binary"
	"math"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Reader reads consecutive numbers and strings. Reading beyond the end panics; region.Recover makes that an error.
type Reader struct {
	Data []byte
	At   int
}

// Uint reads an unsigned varint.
func (r *Reader) Uint() uint64 {
	if b := r.Data[r.At]; b < 0x80 {
		r.At++
		return uint64(b)
	}
	return r.long()
}

// long reads an unsigned varint of several bytes.
func (r *Reader) long() uint64 {
	if d := r.Data[r.At:]; len(d) > 2 {
		v := uint64(d[0]&0x7f) | uint64(d[1]&0x7f)<<7
		if d[1] < 0x80 {
			r.At += 2
			return v
		}
		if d[2] < 0x80 {
			r.At += 3
			return v | uint64(d[2])<<14
		}
	}
	v, n := binary.Uvarint(r.Data[r.At:])
	if n <= 0 {
		geometry.Corrupt("a number has no end")
	}
	r.At += n
	return v
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	r.At++
	return r.Data[r.At-1]
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n uint64) []byte {
	from := r.At
	if n > uint64(len(r.Data)-from) {
		geometry.Corrupt("a string has no end")
	}
	r.At += int(n)
	return r.Data[from:r.At:r.At]
}

// Code reads a country's code.
func (r *Reader) Code() [3]byte { return [3]byte(r.Bytes(3)) }

// Float reads a number of four bytes.
func (r *Reader) Float() float32 { return math.Float32frombits(binary.LittleEndian.Uint32(r.Bytes(4))) }

// String reads a string, stored here or in the string table.
func (r *Reader) String(text *Text) []byte {
	v := r.Uint()
	if v&1 != 0 {
		return text.String(v >> 1)
	}
	return r.Bytes(v >> 1)
}

// Text is the string table.
type Text struct{ region.View[byte] }

// String returns the string at an offset. It is a part of the file.
func (t *Text) String(at uint64) []byte {
	if at == 0 {
		return nil
	}
	from := int(at)
	length := int(*t.At(from))
	if from++; length >= 0x80 {
		long, n := binary.Uvarint(t.Range(from-1, min(from-1+binary.MaxVarintLen32, t.Len())))
		if n <= 0 || long > MaxString {
			geometry.Corrupt("a string has no end")
		}
		from, length = from-1+n, int(long)
	}
	return t.Range(from, from+length)
}
