package extract

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zlib"
	"google.golang.org/protobuf/encoding/protowire"
)

// guard stands between a PBF file and its decoder, package osmpbf, which trusts its input: there, an index out of range
// panics in a goroutine that nobody can recover, and a block may inflate without limit. The guard reads block by block,
// bounds what is inflated, checks every index and length, and passes on those blocks, uncompressed, that hold a wanted kind
// of objects; one of which the decoder would make very much goes on in parts.
type guard struct {
	ctx    context.Context
	file   *pbf
	kinds  blockKinds
	offset int64
	next   int     // of file.blocks, on later passes
	found  []block // on the first pass
	out    []byte  // what Read has yet to hand over
	err    error
	packed []byte
	raw    []byte
	zr     io.ReadCloser
	check  blockChecker
	// parts yields what a heavy block was divided into, as long as there is more of it.
	parts     func() ([]byte, error, bool)
	stopParts func()
	unpacked  int64 // bytes of all blocks so far
}

// block is a block of a PBF file.
type block struct {
	offset, length int64
	kinds          blockKinds
}

// blockKinds is a set of kinds of objects.
type blockKinds uint8

const (
	headerBlock blockKinds = 1 << iota
	nodeBlock
	wayBlock
	relationBlock
)

// The limits of the format.
const (
	maxBlobHeader = 64 << 10
	maxBlob       = 32<<20 - 64 // what osmpbf takes, with the few bytes around the data
	maxHeader     = 1 << 20     // of the first block; some hundred bytes are usual
)

func newGuard(ctx context.Context, file *pbf, kinds blockKinds) *guard {
	return &guard{ctx: ctx, file: file, kinds: kinds | headerBlock}
}

func (g *guard) Read(p []byte) (int, error) {
	for len(g.out) == 0 {
		if g.err == nil {
			g.err = g.ctx.Err()
		}
		switch {
		case g.err != nil:
			return 0, g.err
		case g.parts != nil:
			g.err = g.nextPart()
		default:
			g.err = g.advance()
		}
	}
	n := copy(p, g.out)
	g.out = g.out[n:]
	return n, nil
}

// advance reads the next block, and makes it g.out if it is wanted.
func (g *guard) advance() error {
	if known := g.file.blocks; known != nil {
		for g.next < len(known) && known[g.next].kinds&g.kinds == 0 {
			g.next++
		}
		if g.next == len(known) {
			return io.EOF
		}
		g.offset = known[g.next].offset
		g.next++
	}
	start := g.offset
	if start == g.file.size {
		return io.EOF
	}
	kind, err := g.readBlock()
	if err == nil {
		var kinds blockKinds
		kinds, err = g.inspect(kind)
		if err == nil {
			g.found = append(g.found, block{offset: start, length: g.offset - start, kinds: kinds})
			g.file.bar.add(g.offset - start)
			switch {
			case kinds&g.kinds == 0:
			case g.check.weight > g.file.maxWeight:
				g.parts, g.stopParts = iter.Pull2(g.check.split(g.raw, g.file.maxWeight))
			default:
				g.frame(kind, g.raw)
			}
			return nil
		}
	}
	return fmt.Errorf("block at byte %d: %w", start, err)
}

// nextPart makes the next part of a heavy block g.out.
func (g *guard) nextPart() error {
	part, err, ok := g.parts()
	if !ok {
		g.parts = nil
		return nil
	}
	if err == nil {
		g.frame("OSMData", part)
	}
	return err
}

// close ends the dividing of a block.
func (g *guard) close() {
	if g.stopParts != nil {
		g.stopParts()
	}
}

// readBlock reads the block at g.offset into g.raw, uncompressed, and returns its type.
func (g *guard) readBlock() (kind string, err error) {
	head, err := g.take(4)
	if err != nil {
		return "", err
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxBlobHeader {
		return "", fmt.Errorf("header of %d bytes: more than the format allows", size)
	}
	if head, err = g.take(int64(size)); err != nil {
		return "", err
	}
	var blobSize uint64
	err = fields(head, func(num protowire.Number, v uint64, b []byte) error {
		switch num {
		case 1:
			kind = string(b)
		case 3:
			blobSize = v
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if blobSize > maxBlob {
		return "", fmt.Errorf("%d bytes: more than the format allows", blobSize)
	}
	blob, err := g.take(int64(blobSize))
	if err != nil {
		return "", err
	}
	if err := g.unpack(blob); err != nil {
		return "", err
	}
	g.unpacked += int64(len(g.raw))
	return kind, checkUnpacked(g.unpacked, g.file.size)
}

// take reads n bytes at g.offset. They are valid until the next call.
func (g *guard) take(n int64) ([]byte, error) {
	if n > g.file.size-g.offset {
		return nil, truncated(io.ErrUnexpectedEOF)
	}
	if int64(cap(g.packed)) < n {
		g.packed = make([]byte, n, n+n/4)
	}
	b := g.packed[:n]
	if _, err := g.file.f.ReadAt(b, g.offset); err != nil {
		return nil, truncated(err)
	}
	g.offset += n
	return b, nil
}

// unpack puts a blob's content into g.raw.
func (g *guard) unpack(blob []byte) error {
	var compressed []byte
	var rawSize uint64
	var plain, other bool
	err := fields(blob, func(num protowire.Number, v uint64, b []byte) error {
		switch num {
		case 1:
			g.raw, plain = append(g.raw[:0], b...), true
		case 2:
			rawSize = v
		case 3:
			compressed = b
		case 4, 5, 6, 7:
			other = true
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case plain:
		return nil
	case other:
		return errors.New("compressed by another method than zlib")
	case compressed == nil:
		return errors.New("no data")
	case rawSize > maxBlob:
		return fmt.Errorf("%d bytes uncompressed: more than the format allows", rawSize)
	}
	if g.zr == nil {
		g.zr, err = zlib.NewReader(bytes.NewReader(compressed))
	} else {
		err = g.zr.(zlib.Resetter).Reset(bytes.NewReader(compressed), nil)
	}
	if err != nil {
		return err
	}
	// Growing while reading, and not allocating what the block claims, keeps a false claim cheap.
	buf := bytes.NewBuffer(g.raw[:0])
	if _, err := buf.ReadFrom(io.LimitReader(g.zr, int64(rawSize)+1)); err != nil {
		return err
	}
	g.raw = buf.Bytes()
	if uint64(len(g.raw)) != rawSize {
		return fmt.Errorf("%d bytes uncompressed, not %d as it says", len(g.raw), rawSize)
	}
	return nil
}

// inspect checks the block in g.raw and returns what it holds.
func (g *guard) inspect(kind string) (blockKinds, error) {
	switch first := len(g.found) == 0; {
	case kind == "OSMHeader" && first:
		g.check.weight = 0
		return headerBlock, checkHeader(g.raw)
	case kind == "OSMData" && !first:
		return g.check.block(g.raw)
	default:
		return 0, fmt.Errorf("unexpected type %.40q", kind)
	}
}

// frame writes a block as an uncompressed one to g.out.
func (g *guard) frame(kind string, raw []byte) {
	blobSize := protowire.SizeTag(1) + protowire.SizeBytes(len(raw))
	var head []byte
	head = protowire.AppendTag(head, 1, protowire.BytesType)
	head = protowire.AppendString(head, kind)
	head = protowire.AppendTag(head, 3, protowire.VarintType)
	head = protowire.AppendVarint(head, uint64(blobSize))
	out := make([]byte, 0, 4+len(head)+blobSize)
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = append(out, head...)
	out = protowire.AppendTag(out, 1, protowire.BytesType)
	g.out = protowire.AppendBytes(out, raw)
}

// checkHeader refuses files that need what is not understood here.
func checkHeader(raw []byte) error {
	if len(raw) > maxHeader {
		return fmt.Errorf("a header of %d bytes", len(raw))
	}
	return fields(raw, func(num protowire.Number, _ uint64, b []byte) error {
		const requiredFeatures = 4
		if num != requiredFeatures {
			return nil
		}
		switch feature := string(b); feature {
		case "OsmSchema-V0.6", "DenseNodes":
			return nil
		case "HistoricalInformation":
			return errors.New("a history file, not an extract of one moment")
		default:
			return fmt.Errorf("needs the unknown feature %.40q", feature)
		}
	})
}
