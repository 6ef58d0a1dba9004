package osmfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The limits of the format.
const (
	maxBlobHeader = 64 << 10
	maxBlob       = 32 << 20
	maxHeader     = 1 << 20 // of the first block; some hundred bytes are usual
)

// Field numbers of the format (fileformat.proto).
const (
	headerType, headerSize             = 1, 3
	blobRaw, blobRawSize               = 1, 2
	blobZlib, blobLZMA, blobOldBzip2   = 3, 4, 5
	blobLZ4, blobZstd, blobFieldsBelow = 6, 7, 8
)

// blob is a block of a PBF file as it was read: compressed, and not checked.
type blob struct {
	kind    string // OSMHeader or OSMData
	method  int    // the number of the field with the data
	data    []byte // of the file
	rawSize int64  // as it says
}

// blobReader reads the blocks of a file one after the other.
type blobReader struct {
	f      io.ReaderAt
	size   int64 // of the file
	offset int64
	head   []byte
}

// next reads the block at r.offset. Its data is in the buffer, which grows for it.
func (r *blobReader) next(buffer *[]byte) (b blob, err error) {
	if err = r.take(&r.head, 4); err != nil {
		return b, err
	}
	size := binary.BigEndian.Uint32(r.head)
	if size > maxBlobHeader {
		return b, fmt.Errorf("header of %d bytes: more than the format allows", size)
	}
	if err = r.take(&r.head, int64(size)); err != nil {
		return b, err
	}
	var blobSize uint64
	for head := message(r.head); len(head) > 0; {
		num, v, text, err := head.next()
		if err != nil {
			return b, err
		}
		switch num {
		case headerType:
			b.kind = string(text)
		case headerSize:
			blobSize = v
		}
	}
	if blobSize > maxBlob {
		return b, fmt.Errorf("%d bytes: more than the format allows", blobSize)
	}
	if err = r.take(buffer, int64(blobSize)); err != nil {
		return b, err
	}
	return b, b.read(*buffer)
}

// take reads n bytes at r.offset into a buffer.
func (r *blobReader) take(buffer *[]byte, n int64) error {
	if n > r.size-r.offset {
		return truncated(io.ErrUnexpectedEOF)
	}
	if int64(cap(*buffer)) < n {
		*buffer = make([]byte, n, n+n/4)
	}
	*buffer = (*buffer)[:n]
	if _, err := r.f.ReadAt(*buffer, r.offset); err != nil {
		return truncated(err)
	}
	r.offset += n
	return nil
}

// read takes the fields of a blob.
func (b *blob) read(msg message) error {
	claimed := uint64(0)
	for len(msg) > 0 {
		num, v, data, err := msg.next()
		switch {
		case err != nil:
			return err
		case num == blobRawSize:
			claimed = v
		case num < blobFieldsBelow:
			b.method, b.data = int(num), data
		}
	}
	switch {
	case b.data == nil:
		return errors.New("no data")
	case b.method == blobRaw:
		claimed = uint64(len(b.data))
	case b.method == blobLZMA || b.method == blobOldBzip2:
		return errors.New("compressed with lzma or bzip2, which no program writes: rewrite the file with osmium cat")
	}
	if claimed > maxBlob {
		return fmt.Errorf("%d bytes uncompressed: more than the format allows", claimed)
	}
	b.rawSize = int64(claimed)
	return nil
}

// unpacker uncompresses blocks, one at a time. What it keeps for the next one is small where blocks are as large as
// programs write them.
type unpacker struct {
	raw  []byte
	zlib io.ReadCloser
	zstd *zstd.Decoder
}

// keptBlob is how large a block's memory may be to be kept for the next one. Programs write blocks of up to two
// megabytes.
const keptBlob = 4 << 20

// unpack returns a blob's content, which is valid until the next call.
func (u *unpacker) unpack(b blob) (raw []byte, err error) {
	if b.method == blobRaw {
		return b.data, nil
	}
	if cap(u.raw) > keptBlob {
		u.raw = nil
	}
	switch b.method {
	case blobZlib:
		err = u.inflate(b)
	case blobLZ4:
		err = u.unpackLZ4(b)
	default:
		err = u.unpackZstd(b)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(u.raw)) != b.rawSize {
		return nil, fmt.Errorf("%d bytes uncompressed, not %d as it says", len(u.raw), b.rawSize)
	}
	return u.raw, nil
}

func (u *unpacker) inflate(b blob) (err error) {
	if u.zlib == nil {
		u.zlib, err = zlib.NewReader(bytes.NewReader(b.data))
	} else {
		err = u.zlib.(zlib.Resetter).Reset(bytes.NewReader(b.data), nil)
	}
	if err != nil {
		return err
	}
	// Growing while reading, and not allocating what the block claims, keeps a false claim cheap.
	buf := bytes.NewBuffer(u.raw[:0])
	_, err = buf.ReadFrom(io.LimitReader(u.zlib, b.rawSize+1))
	u.raw = buf.Bytes()
	return err
}

// mostLZ4 is more bytes than LZ4 makes of one.
const mostLZ4 = 256

func (u *unpacker) unpackLZ4(b blob) error {
	if b.rawSize > mostLZ4*int64(len(b.data)) {
		return fmt.Errorf("lz4: %d bytes cannot hold the %d that it says", len(b.data), b.rawSize)
	}
	if int64(cap(u.raw)) < b.rawSize {
		u.raw = make([]byte, b.rawSize)
	}
	n, err := lz4.UncompressBlock(b.data, u.raw[:b.rawSize])
	if err != nil {
		return err
	}
	u.raw = u.raw[:n]
	return nil
}

func (u *unpacker) unpackZstd(b blob) (err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlob))
		if err != nil {
			return err
		}
	}
	if u.raw, err = u.zstd.DecodeAll(b.data, u.raw[:0]); err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	return nil
}
