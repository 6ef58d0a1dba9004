package region

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"os"
)

// body is the file between its header and its end.
type body struct {
	file   *os.File
	w      *bufio.Writer
	offset uint64
	sums   blockSums
}

func newBody(f *os.File) *body {
	b := &body{file: f, offset: headerSize}
	b.w = bufio.NewWriterSize(io.MultiWriter(io.NewOffsetWriter(f, headerSize), &b.sums), 1<<18)
	return b
}

func (b *body) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	b.offset += uint64(n)
	return n, err
}

// align pads to the offset where the next section may begin.
func (b *body) align() error {
	_, err := b.Write(make([]byte, (alignment-b.offset%alignment)%alignment))
	return err
}

// take appends a waiting section. It stops if ctx ends: sections may have gigabytes.
func (b *body) take(ctx context.Context, s *SectionWriter) error {
	s.offset = b.offset
	if _, err := io.Copy(b, &untilEnd{ctx, bytes.NewReader(s.content())}); err != nil {
		return err
	}
	if s.spool == nil {
		return b.align()
	}
	return errors.Join(s.spool.Free(), b.align())
}

// untilEnd reads until ctx ends.
type untilEnd struct {
	ctx context.Context
	r   io.Reader
}

func (u *untilEnd) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// seal writes the checksums, the table and the header.
func (b *body) seal(table []byte, entries int) error {
	if err := b.w.Flush(); err != nil {
		return err
	}
	crcs := b.sums.finish()
	identity := sha256.New()
	identity.Write(crcs)
	identity.Write(table)
	h := header{version: Version, crcs: b.offset, table: b.offset + uint64(len(crcs)), entries: uint32(entries),
		tableCRC: crc32.Checksum(table, castagnoli)}
	h.fileSize = h.table + uint64(len(table))
	identity.Sum(h.identity[:0])
	for _, part := range []struct {
		at    uint64
		bytes []byte
	}{{h.crcs, crcs}, {h.table, table}, {0, h.encode()}} {
		if _, err := b.file.WriteAt(part.bytes, int64(part.at)); err != nil {
			return err
		}
	}
	return nil
}

// blockSums is a writer that computes the CRC-32C of every block.
type blockSums struct {
	crcs []byte
	sum  uint32
	n    int // bytes of the current block
}

func (b *blockSums) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part := rest[:min(len(rest), blockSize-b.n)]
		b.sum = crc32.Update(b.sum, castagnoli, part)
		b.n += len(part)
		rest = rest[len(part):]
		if b.n == blockSize {
			b.flush()
		}
	}
	return len(p), nil
}

func (b *blockSums) flush() {
	b.crcs = append(b.crcs, byte(b.sum), byte(b.sum>>8), byte(b.sum>>16), byte(b.sum>>24))
	b.sum, b.n = 0, 0
}

func (b *blockSums) finish() []byte {
	if b.n > 0 {
		b.flush()
	}
	return b.crcs
}
