package extract

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"time"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"
)

// maxDecoders bounds the goroutines that decode blocks: beyond it the reading of one file is the limit.
const maxDecoders = 8

// pbf is a .osm.pbf file. The first pass notes which kinds of objects each block holds, so that later ones skip the rest.
type pbf struct {
	f      readerAtCloser
	size   int64
	bar    *progress
	blocks []block // nil before the first pass
	time   time.Time
	// maxWeight is how much the decoder may make of one block, in bytes.
	maxWeight int64
}

type readerAtCloser interface {
	io.ReaderAt
	io.Closer
}

func newPBF(f readerAtCloser, size int64, bar *progress) *pbf {
	return &pbf{f: f, size: size, bar: bar, maxWeight: maxWeight}
}

// isPBF tells a PBF file by its first block's header: four bytes of length, then the type "OSMHeader".
func isPBF(head []byte) bool {
	return len(head) > 15 && head[0] == 0 && head[1] == 0 && bytes.Equal(head[4:15], []byte("\x0a\x09OSMHeader"))
}

func (p *pbf) relations(ctx context.Context, each func(*osm.Relation) error) error {
	return p.scan(ctx, relationBlock, func(s *osmpbf.Scanner) {
		s.SkipNodes, s.SkipWays = true, true
	}, func(o osm.Object) error {
		if r, ok := o.(*osm.Relation); ok {
			return each(r)
		}
		return nil
	})
}

func (p *pbf) ways(ctx context.Context, want func(*osm.Way) bool, each func(*osm.Way) error) error {
	return p.scan(ctx, wayBlock, func(s *osmpbf.Scanner) {
		s.SkipNodes, s.SkipRelations = true, true
		s.FilterWay = want
	}, func(o osm.Object) error {
		if w, ok := o.(*osm.Way); ok {
			return each(w)
		}
		return nil
	})
}

func (p *pbf) nodes(ctx context.Context, want func(*osm.Node) bool, each func(*osm.Node) error) error {
	return p.scan(ctx, nodeBlock, func(s *osmpbf.Scanner) {
		s.SkipWays, s.SkipRelations = true, true
		s.FilterNode = want
	}, func(o osm.Object) error {
		if n, ok := o.(*osm.Node); ok {
			return each(n)
		}
		return nil
	})
}

func (p *pbf) timestamp() time.Time { return p.time }

func (p *pbf) remaining(stage string) int64 {
	if p.blocks == nil {
		return p.size // what is in it is not known yet
	}
	kinds := map[string]blockKinds{stageRelations: relationBlock, stageWays: wayBlock, stageNodes: nodeBlock}[stage]
	var sum int64
	for _, b := range p.blocks {
		if b.kinds&(kinds|headerBlock) != 0 {
			sum += b.length
		}
	}
	return sum
}

func (p *pbf) close() error { return p.f.Close() }

func (p *pbf) scan(ctx context.Context, kinds blockKinds, prepare func(*osmpbf.Scanner),
	each func(osm.Object) error) error {
	ctx, cancel := context.WithCancel(ctx)
	guard := newGuard(ctx, p, kinds)
	defer guard.close() // when nobody reads from it any more
	s := osmpbf.New(ctx, guard, min(runtime.GOMAXPROCS(0), maxDecoders))
	prepare(s)
	// Close waits for the decoder's goroutines, which read on until the guard refuses: cancel comes first.
	defer s.Close()
	defer cancel()
	if header, err := s.Header(); err != nil {
		return err
	} else if header != nil {
		p.time = header.ReplicationTimestamp
	}
	for s.Scan() {
		if err := each(s.Object()); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	if p.blocks == nil {
		p.blocks = guard.found
	}
	return nil
}
