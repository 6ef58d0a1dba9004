package osmfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"
)

// The limits of the format.
const (
	maxBlobHeader = 64 << 10
	maxBlob       = 32 << 20
)

// Field numbers of blobs (fileformat.proto). The number of the data's field tells its compression.
const (
	headerType, headerSize                            = 1, 3
	blobRaw, blobRawSize, blobZlib, blobLZ4, blobZstd = 1, 2, 3, 6, 7
)

// blob is a block of a PBF file as in the file: compressed, and not checked.
type blob struct {
	kind    string // OSMHeader or OSMData
	method  int    // the number of the field with the data
	data    []byte
	rawSize uint64 // as the block claims
}

// readBlob reads the block at an offset, and returns the offset of the next one.
func (f *File) readBlob(offset int64) (b blob, next int64, err error) {
	defer refuse(&err)
	take := func(n uint64, most uint64) []byte {
		if n > most {
			fail("%d bytes: more than the format allows", n)
		}
		if int64(n) > f.size-offset {
			panic(malformed{truncated(io.ErrUnexpectedEOF)})
		}
		taken := make([]byte, n)
		if _, err := f.in.ReadAt(taken, offset); err != nil {
			panic(malformed{truncated(err)})
		}
		offset += int64(n)
		return taken
	}
	var size uint64
	head := wire{data: take(uint64(binary.BigEndian.Uint32(take(4, 4))), maxBlobHeader)}
	for head.more() {
		switch num, v, text := head.field(); num {
		case headerType:
			b.kind = string(text)
		case headerSize:
			size = v
		}
	}
	for rest := (wire{data: take(size, maxBlob)}); rest.more(); {
		switch num, v, data := rest.field(); num {
		case blobRawSize:
			b.rawSize = v
		case blobRaw, blobZlib, blobLZ4, blobZstd:
			b.method, b.data = int(num), data
		}
	}
	switch {
	case b.data == nil:
		fail("has no data that is uncompressed or compressed with zlib, lz4 or zstd")
	case b.method == blobRaw:
		b.rawSize = uint64(len(b.data))
	case b.rawSize > maxBlob:
		fail("%d bytes uncompressed: more than the format allows", b.rawSize)
	}
	return b, offset, nil
}

// unpacker decompresses blocks, one at a time.
type unpacker struct {
	skip Kinds // blocks with only these need not be unpacked completely
	raw  []byte
	zlib io.ReadCloser
}

// unpackZstd is shared by all workers.
var unpackZstd = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlob))
	if err != nil {
		panic(err) // of options
	}
	return d
})

// unpack returns a blob's content, which is valid until the next call. If all objects in it are of a kind to be
// skipped, it returns that kind instead.
func (u *unpacker) unpack(b *blob) (raw []byte, skipped Kinds, err error) {
	if b.method == blobRaw {
		return b.data, 0, nil
	}
	u.raw = slices.Grow(u.raw[:0], int(b.rawSize)+bytes.MinRead)
	switch b.method {
	case blobZlib:
		raw, skipped, err = u.inflate(b)
	case blobLZ4:
		raw = u.raw[:b.rawSize]
		var n int
		n, err = lz4.UncompressBlock(b.data, raw)
		raw = raw[:n]
	default:
		raw, err = unpackZstd().DecodeAll(b.data, u.raw)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("cannot be unpacked: %w", err)
	}
	if skipped == 0 && uint64(len(raw)) != b.rawSize {
		return nil, 0, fmt.Errorf("does not unpack to the %d bytes that it claims", b.rawSize)
	}
	return raw, skipped, nil
}

func (u *unpacker) inflate(b *blob) (raw []byte, skipped Kinds, err error) {
	if u.zlib == nil {
		u.zlib, err = zlib.NewReader(bytes.NewReader(b.data))
	} else {
		err = u.zlib.(zlib.Resetter).Reset(bytes.NewReader(b.data), nil)
	}
	if err != nil {
		return nil, 0, err
	}
	buf := bytes.NewBuffer(u.raw)
	start := func(n uint64) []byte {
		_, err = buf.ReadFrom(io.LimitReader(u.zlib, int64(n)-int64(buf.Len())))
		return buf.Bytes()
	}
	if u.skip != 0 {
		if kind := kindOf(start, b.rawSize); u.skip&kind != 0 {
			return nil, kind, nil
		}
	}
	raw = start(b.rawSize + 1)
	return raw, 0, err
}

// kindOf returns the kind of all objects of a block, if its start tells: if the block consists of a string table and
// one group, whose objects are of one kind. It returns 0 otherwise.
func kindOf(start func(n uint64) []byte, size uint64) Kinds {
	const heads = 16 // more bytes than the heads before and after the table
	w := wire{data: start(heads)}
	if len(w.data) < heads || w.number() != blockStrings<<3|uint64(protowire.BytesType) {
		return 0
	}
	table := w.number()
	if table > size {
		return 0
	}
	w.at += int(table)
	w.data = start(uint64(w.at) + heads)
	if len(w.data) < w.at+heads || w.number() != blockGroup<<3|uint64(protowire.BytesType) {
		return 0
	}
	group := w.number()
	if kind := w.number() >> 3; kind <= groupRelation && uint64(w.at)+group-1 == size {
		return groupKinds[kind]
	}
	return 0
}
