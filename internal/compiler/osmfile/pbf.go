package osmfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
)

// pbf is a .osm.pbf file. The first pass notes which kinds of objects each block holds, so that later ones skip the
// rest.
type pbf struct {
	f      readerAtCloser
	size   int64
	bar    *progress.Bar
	blocks []block // nil before the first pass
	time   time.Time
}

type readerAtCloser interface {
	io.ReaderAt
	io.Closer
}

// block is a block of objects of a PBF file.
type block struct {
	offset, length int64
	kinds          Kinds
}

func newPBF(f readerAtCloser, size int64, bar *progress.Bar) *pbf {
	return &pbf{f: f, size: size, bar: bar}
}

// isPBF tells a PBF file by its first block's header: four bytes of length, then the type "OSMHeader".
func isPBF(head []byte) bool {
	return len(head) > 15 && head[0] == 0 && head[1] == 0 && bytes.Equal(head[4:15], []byte("\x0a\x09OSMHeader"))
}

func (p *pbf) Timestamp() time.Time { return p.time }

func (p *pbf) Close() error { return p.f.Close() }

func (p *pbf) Remaining(wanted Kinds) int64 {
	if p.blocks == nil {
		return p.size // what is in it is not known yet
	}
	var sum int64
	for _, b := range p.blocks {
		if b.kinds&wanted != 0 {
			sum += b.length
		}
	}
	return sum
}

// What is in hand at a time: blocks that are being worked on or wait for their turn beyond one for each worker, and
// bytes that these unpack to.
const (
	maxWorkers   = 16 // beyond it the reading of one file is the limit
	waitingJobs  = 4
	unpackedOnce = 4 * maxBlob
)

// job is a block on its way through the workers.
type job struct {
	blob     blob
	packed   []byte
	start    int64
	length   int64
	weight   int64 // of the memory that it takes
	kinds    Kinds // that were found
	err      error
	finished chan Batch // closed at the block's end
}

// Scan goes through the blocks that hold a wanted kind of objects, each in one of several goroutines, and takes what is
// made of them in the order of the file.
func (p *pbf) Scan(ctx context.Context, wanted Kinds, fresh func() Batch, each func(Batch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	s := &pbfScan{file: p, wanted: wanted, fresh: fresh, ctx: ctx, memory: semaphore.NewWeighted(unpackedOnce),
		jobs: make(chan *job, workers), order: make(chan *job, workers+waitingJobs)}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(s.work)
	}
	wg.Go(s.read)
	var found []block
	for j := range s.order {
		for b := range j.finished {
			if err := each(b); err != nil {
				return err
			}
			s.free.Put(b)
		}
		if j.err != nil {
			return fmt.Errorf("block at byte %d: %w", j.start, j.err)
		}
		found = append(found, block{offset: j.start, length: j.length, kinds: j.kinds})
		p.bar.Add(j.length)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.blocks == nil {
		p.blocks = found
	}
	return nil
}

// pbfScan is one pass over a file.
type pbfScan struct {
	file   *pbf
	wanted Kinds
	fresh  func() Batch
	ctx    context.Context
	memory *semaphore.Weighted
	jobs   chan *job // for the workers
	order  chan *job // the same, for whoever takes the results
	free   sync.Pool // of batches
}

// read reads the blocks, and gives them to the workers.
func (s *pbfScan) read() {
	defer close(s.order)
	defer close(s.jobs)
	r := &blobReader{f: s.file.f, size: s.file.size}
	for next := 0; ; next++ {
		if known := s.file.blocks; known != nil {
			for next < len(known) && known[next].kinds&s.wanted == 0 {
				next++
			}
			if next == len(known) {
				return
			}
			r.offset = known[next].offset
		} else if r.offset == r.size {
			return
		}
		j := &job{start: r.offset, finished: make(chan Batch, 1)}
		j.blob, j.err = r.next(&j.packed)
		j.length = r.offset - j.start
		switch {
		case j.err != nil:
		case j.start == 0 && j.blob.kind == "OSMHeader":
			j.err = s.file.readHeader(j.blob)
		case j.start == 0 || j.blob.kind != "OSMData":
			j.err = fmt.Errorf("unexpected type %.40q", j.blob.kind)
		default:
			if !s.start(j) {
				return
			}
			continue
		}
		close(j.finished)
		if !inorder.Send(s.ctx, s.order, j) || j.err != nil {
			return
		}
	}
}

// start gives a job to the workers as soon as there is memory for it.
func (s *pbfScan) start(j *job) bool {
	j.weight = min(int64(len(j.packed))+j.blob.rawSize, unpackedOnce)
	if s.memory.Acquire(s.ctx, j.weight) != nil || !inorder.Send(s.ctx, s.order, j) {
		return false
	}
	if !inorder.Send(s.ctx, s.jobs, j) {
		j.err = s.ctx.Err()
		close(j.finished) // nobody else would, and somebody waits for it
		return false
	}
	return true
}

// work works on one block after the other.
func (s *pbfScan) work() {
	w := &pbfWorker{scan: s, decoder: blockDecoder{want: s.wanted}}
	w.decoder.visit = w.take
	for j := range s.jobs {
		w.job = j
		if j.err = w.run(); j.err == nil {
			j.kinds = w.decoder.found
		}
		j.blob, j.packed = blob{}, nil
		s.memory.Release(j.weight)
		close(j.finished)
	}
}

// pbfWorker works on one block at a time.
type pbfWorker struct {
	scan     *pbfScan
	unpacker unpacker
	decoder  blockDecoder
	job      *job
	batch    Batch
}

func (w *pbfWorker) run() error {
	if err := w.scan.ctx.Err(); err != nil {
		return err
	}
	raw, err := w.unpacker.unpack(w.job.blob)
	if err != nil {
		return err
	}
	if err := w.decoder.decode(raw); err != nil {
		return err
	}
	return w.flush()
}

// take looks at an object.
func (w *pbfWorker) take(o *Object) error {
	if w.batch == nil {
		if w.batch, _ = w.scan.free.Get().(Batch); w.batch == nil {
			w.batch = w.scan.fresh()
		}
	}
	if w.batch.Add(o) {
		return w.flush()
	}
	return nil
}

func (w *pbfWorker) flush() error {
	b := w.batch
	if w.batch = nil; b != nil && !inorder.Send(w.scan.ctx, w.job.finished, b) {
		return w.scan.ctx.Err()
	}
	return nil
}

// readHeader reads the first block.
func (p *pbf) readHeader(b blob) error {
	if b.rawSize > maxHeader {
		return fmt.Errorf("a header of %d bytes", b.rawSize)
	}
	raw, err := new(unpacker).unpack(b)
	if err != nil {
		return err
	}
	const requiredFeatures, replicationTimestamp = 4, 32
	for header := message(raw); len(header) > 0; {
		num, v, text, err := header.next()
		if err != nil {
			return err
		}
		switch num {
		case replicationTimestamp:
			p.time = time.Unix(int64(v), 0).UTC()
		case requiredFeatures:
			switch feature := string(text); feature {
			case "OsmSchema-V0.6", "DenseNodes":
			case "HistoricalInformation":
				return errors.New("a history file, not an extract of one moment: cut one out with osmium time-filter")
			default:
				return fmt.Errorf("needs the unknown feature %.40q", feature)
			}
		}
	}
	return nil
}
