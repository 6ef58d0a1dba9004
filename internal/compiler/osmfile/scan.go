package osmfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
)

// block is a block of objects of a PBF file.
type block struct {
	offset, length int64
	kinds          Kinds
}

// maxUnpacked limits the bytes of blocks in memory. Some programs write blocks as large as the format allows.
const maxUnpacked = 4 * maxBlob

// isPBF recognizes a PBF file by the header of its first block: four bytes of length, then the type "OSMHeader".
func isPBF(head []byte) bool {
	return len(head) > 15 && head[0] == 0 && head[1] == 0 && bytes.Equal(head[4:15], []byte("\x0a\x09OSMHeader"))
}

// readHeader reads the first block of a PBF file.
func (f *File) readHeader() (err error) {
	defer refuse(&err)
	b, next, err := f.readBlob(0)
	if err != nil {
		return err
	}
	f.start = next
	header, _, err := new(unpacker).unpack(&b)
	if err != nil {
		return err
	}
	const requiredFeature, replicationTimestamp = 4, 32
	for rest := (wire{data: header}); rest.more(); {
		switch num, v, text := rest.field(); {
		case num == replicationTimestamp:
			f.Timestamp = time.Unix(int64(v), 0).UTC()
		case string(text) == "LocationsOnWays": // an optional feature
			f.located = true
		case num != requiredFeature || string(text) == "OsmSchema-V0.6" || string(text) == "DenseNodes":
		case string(text) == "HistoricalInformation":
			return errors.New("a history file, not an extract of one moment: cut one out with osmium time-filter")
		default:
			return fmt.Errorf("needs the unknown feature %.40q", text)
		}
	}
	return nil
}

// job is a block that a worker processes.
type job struct {
	block
	blob    blob
	err     error
	batches chan Batch // closed at the block's end
}

// scan is one pass over a file.
type scan struct {
	file   *File
	wanted Kinds
	fresh  func() Batch
	ctx    context.Context
	all    sync.WaitGroup
	memory *semaphore.Weighted
	idle   chan *worker
	order  chan *job
	free   sync.Pool // of batches
}

// Scan adds all objects of some kinds to batches, in several goroutines, and calls each with the batches in the order
// of the file. Batches are used again, so each must empty them. An error of each ends the scan. If ways have the
// positions of their nodes, a scan for nodes includes ways, because the nodes may be missing.
func (f *File) Scan(ctx context.Context, wanted Kinds, fresh func() Batch, each func(Batch) error) error {
	if f.xml != nil {
		if err := f.convert(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	s := &scan{file: f, wanted: f.allOf(wanted), fresh: fresh, ctx: ctx, memory: semaphore.NewWeighted(maxUnpacked),
		idle: make(chan *worker, workers), order: make(chan *job, workers+4)}
	for range workers {
		w := &worker{scan: s, unpacker: unpacker{skip: ^s.wanted}, decoder: decoder{want: s.wanted}}
		w.decoder.visit = w.take
		s.idle <- w
	}
	defer s.all.Wait()
	defer cancel()
	s.all.Go(s.read)
	var found []block
	for j := range s.order {
		for b := range j.batches {
			if err := each(b); err != nil {
				return err
			}
			s.free.Put(b)
		}
		if j.err != nil {
			return fmt.Errorf("block at byte %d: %w", j.offset, j.err)
		}
		found = append(found, j.block)
		f.bar.Add(j.length)
	}
	if f.blocks == nil && ctx.Err() == nil {
		f.blocks = found
	}
	return ctx.Err()
}

// read reads the blocks, and gives each to a worker as soon as a worker and memory are free.
func (s *scan) read() {
	defer close(s.order)
	offset := s.file.start
	for i := 0; ; i++ {
		if known := s.file.blocks; known != nil {
			for i < len(known) && known[i].kinds&s.wanted == 0 {
				i++
			}
			if i == len(known) {
				return
			}
			offset = known[i].offset
		} else if offset == s.file.size {
			return
		}
		j := &job{block: block{offset: offset}, batches: make(chan Batch, 1)}
		j.blob, offset, j.err = s.file.readBlob(offset)
		if j.err == nil && j.blob.kind != "OSMData" {
			j.err = fmt.Errorf("unexpected type %.40q", j.blob.kind)
		}
		if j.err != nil {
			close(j.batches)
			pipeline.Send(s.ctx, s.order, j)
			return
		}
		j.length = offset - j.offset
		weight := min(int64(len(j.blob.data))+int64(j.blob.rawSize), maxUnpacked)
		if s.memory.Acquire(s.ctx, weight) != nil || !pipeline.Send(s.ctx, s.order, j) {
			return
		}
		w := <-s.idle
		s.all.Go(func() {
			j.err = w.work(j)
			j.blob = blob{}
			s.memory.Release(weight)
			close(j.batches)
			s.idle <- w
		})
	}
}

// worker processes one block at a time.
type worker struct {
	scan     *scan
	unpacker unpacker
	decoder  decoder
	job      *job
	batch    Batch
}

func (w *worker) work(j *job) (err error) {
	defer refuse(&err)
	w.job = j
	raw, skipped, err := w.unpacker.unpack(&j.blob)
	if j.kinds = skipped; err != nil || skipped != 0 {
		return err
	}
	w.decoder.decode(raw)
	j.kinds = w.decoder.found
	if w.batch != nil {
		w.handOver()
	}
	return nil
}

// take adds an object to the batch.
func (w *worker) take(o *Object) {
	if w.batch == nil {
		if w.batch, _ = w.scan.free.Get().(Batch); w.batch == nil {
			w.batch = w.scan.fresh()
		}
	}
	if w.batch.Add(o) {
		w.handOver()
	}
}

// handOver hands over the batch, unless the scan has ended.
func (w *worker) handOver() {
	pipeline.Send(w.scan.ctx, w.job.batches, w.batch)
	w.batch = nil
}
