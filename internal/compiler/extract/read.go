package extract

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// The stages that Read reports.
const (
	stageNodes    = "nodes"
	stageWays     = "ways"
	stageFeatures = "features"
	stageRoads    = "roads"
)

// Options say what to read.
type Options struct {
	// NoMap leaves out what nothing but a map to look at needs: Data has no Drawings and no Coast then.
	NoMap bool
	// Progress is told the stages, with how much of them (bytes or objects) is done, and those that compile Data tell it
	// theirs; nil where nobody watches.
	Progress *progress.Bar
}

// Read reads one or more extracts into one Data, whose files are in dir. An object that several of them have is in it
// once, in its newest version. It takes some hundred bytes of memory for each restriction, and a part of dir.Memory for
// the rest.
//
// It goes through the files twice: for the nodes and the relations, which tell what ways are needed for, and for the
// ways. Of XML, which is read once, the ways are kept in dir in between. An error names the file.
func Read(ctx context.Context, dir *scratch.Dir, paths []string, o Options) (*Data, error) {
	if len(paths) == 0 {
		return nil, errors.New("no extract given")
	}
	files := make([]source, len(paths))
	defer func() {
		for _, f := range files {
			if f != nil {
				f.close()
			}
		}
	}()
	// All of them before any is read, which may take long.
	cost := newBudget()
	for i, path := range paths {
		var err error
		if files[i], err = open(path, dir, o.Progress, cost); err != nil {
			return nil, named(path, err)
		}
		cost.grow(files[i].remaining(nodes | relations)) // all of the file
	}
	r := &reading{files: files, paths: paths, bar: o.Progress, withMap: !o.NoMap}
	return r.read(ctx, dir, cost)
}

// reading is the reading of some files.
type reading struct {
	files []source
	paths []string
	bar   *progress.Bar
	// withMap says that what a map shows is gathered too.
	withMap bool
}

func (r *reading) read(ctx context.Context, dir *scratch.Dir, cost *Budget) (*Data, error) {
	c, err := newCollector(dir, cost, len(r.files) == 1, r.withMap)
	if err != nil {
		return nil, err
	}
	if err := r.pass(ctx, stageNodes, nodes|relations|located, c.look, c.take); err != nil {
		return nil, err
	}
	if err := c.prepareWays(ctx); err != nil {
		return nil, err
	}
	if err := r.pass(ctx, stageWays, ways, c.lookAtWay, c.takeWays); err != nil {
		return nil, err
	}
	if c.counts.Nodes+c.counts.Ways+c.counts.Relations == 0 {
		return nil, fmt.Errorf("%s: holds no map data", r.paths[0])
	}
	data, err := c.assemble(ctx, r.bar)
	if err != nil {
		return nil, err
	}
	for _, f := range r.files {
		data.Timestamp = later(data.Timestamp, f.timestamp())
	}
	return data, nil
}

// pass goes through all files.
func (r *reading) pass(ctx context.Context, stage string, wanted kinds, visit visitor, take func(*batch) error) error {
	var total int64
	for _, f := range r.files {
		total += f.remaining(wanted)
	}
	r.bar.Start(stage, total)
	for i, f := range r.files {
		if err := f.scan(ctx, wanted, visit, take); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return named(r.paths[i], err)
		}
	}
	r.bar.Finish()
	return ctx.Err()
}

// assemble makes Data of what was gathered. What is not needed any more is freed on the way.
func (c *collector) assemble(ctx context.Context, bar *progress.Bar) (*Data, error) {
	data := c.data
	data.Bounds, data.Counts, data.Cost, data.Progress = c.bounds.bound(), c.counts, c.cost, bar
	if err := c.cost.TakeMemory(costTile * int64(data.Tiles.Len())); err != nil {
		return nil, err
	}
	if err := c.ways.finish(ctx); err != nil {
		return nil, err
	}
	if err := c.assembleStreets(); err != nil {
		return nil, err
	}
	if err := c.assembleInterpolations(ctx, data); err != nil {
		return nil, err
	}
	if err := c.assembleFeatures(ctx, bar, data); err != nil {
		return nil, err
	}
	if err := c.assembleRoads(ctx, bar, data); err != nil {
		return nil, err
	}
	return data, ctx.Err()
}

// loop calls f with all numbers below n. It looks now and then whether somebody wants to end it, and reports progress.
func loop(ctx context.Context, bar *progress.Bar, n int, f func(i int) error) error {
	const steps = 1 << 12
	for from := 0; from < n; from += steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+steps, n)
		for i := from; i < to; i++ {
			if err := f(i); err != nil {
				return err
			}
		}
		bar.Add(int64(to - from))
	}
	return nil
}

// named names the file of an error, unless it comes from package os and does so itself.
func named(path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
