package extract

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// The stages that Read reports.
const (
	stageRelations = "relations"
	stageWays      = "ways"
	stageNodes     = "nodes"
	stageAreas     = "areas"
)

// Read reads one or more extracts into one Data. An object that several of them have is in it once, in its newest version.
//
// It goes through the files three times (relations, ways, nodes), so that of a PBF file only what a region needs is ever
// held in memory; of XML, which is read once, everything is. An error names the file.
//
// report may be nil. It is called from several goroutines, but never concurrently, with the stage's name and how much of
// it (bytes or objects) is done; done equals total at the end of each stage.
func Read(ctx context.Context, paths []string, report func(stage string, done, total int64)) (*Data, error) {
	if len(paths) == 0 {
		return nil, errors.New("no extract given")
	}
	bar := &progress{report: report}
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
		if files[i], err = open(path, bar, cost); err != nil {
			return nil, named(path, err)
		}
		cost.grow(files[i].remaining(stageRelations)) // all of the file
	}
	c := newCollector(cost)
	if err := pass(ctx, bar, stageRelations, files, paths, func(i int) error {
		return files[i].relations(ctx, c.addRelation)
	}); err != nil {
		return nil, err
	}
	c.endRelations()
	if err := pass(ctx, bar, stageWays, files, paths, func(i int) error {
		return files[i].ways(ctx, c.wantsWay, c.addWay)
	}); err != nil {
		return nil, err
	}
	if err := c.endWays(); err != nil {
		return nil, err
	}
	if err := pass(ctx, bar, stageNodes, files, paths, func(i int) error {
		return files[i].nodes(ctx, c.wantsNode, c.addNode)
	}); err != nil {
		return nil, err
	}
	if c.nodeCount.Load()+c.wayCount.Load()+int64(c.counts.Relations) == 0 {
		return nil, fmt.Errorf("%s: holds no map data", paths[0])
	}
	data, err := c.assemble(ctx, bar)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		data.Timestamp = later(data.Timestamp, f.timestamp())
	}
	return data, nil
}

// pass runs a stage over all files.
func pass(ctx context.Context, bar *progress, stage string, files []source, paths []string, f func(i int) error) error {
	var total int64
	for _, f := range files {
		total += f.remaining(stage)
	}
	bar.start(stage, total)
	for i, path := range paths {
		if err := f(i); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return named(path, err)
		}
	}
	bar.finish()
	return ctx.Err()
}

// named names the file of an error, unless it comes from package os and does so itself.
func named(path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
