package mapsapp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/paulmach/orb"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Pinned is an open region file with the engines that read it. All requests that came while it was the current one share it,
// and the last to Release it, after it has been replaced, unmaps the file.
type Pinned struct {
	// File is the file itself.
	File *region.File
	// Places answers reverse geocodings; a region without places answers with none.
	Places geocoding.Geocoder
	// Matcher matches traces; in a region without roads it finds no route.
	Matcher matching.Matcher

	identity  fileIdentity
	opened    time.Time
	timestamp time.Time
	logger    *zap.Logger

	overwritten atomic.Pointer[region.DamageError] // set when the file was changed in place
	lastReport  atomic.Int64                       // Unix nanoseconds
}

// Release ends the use of the region. Nothing that was read from it by reference may be used after that.
func (p *Pinned) Release() { p.File.Release() }

// reportEvery is how often a damaged file is written to the log while requests keep running into it.
const reportEvery = time.Minute

// Report logs an error of an engine if it is about the file, and returns it.
func (p *Pinned) Report(err error) error {
	var damage *region.DamageError
	if err == nil || !errors.As(err, &damage) {
		return err
	}
	now, last := time.Now().UnixNano(), p.lastReport.Load()
	if (last != 0 && now-last < int64(reportEvery)) || !p.lastReport.CompareAndSwap(last, now) {
		return err
	}
	fields := []zap.Field{zap.String("path", p.File.Path()), zap.Error(damage)}
	if damage.Stack != nil {
		fields = append(fields, zap.ByteString("stack", damage.Stack))
	}
	p.logger.Error("a region file is damaged; requests that need the damaged part are answered 503", fields...)
	return err
}

// openPinned opens a region file and its engines.
func openPinned(path string, logger *zap.Logger) (p *Pinned, err error) {
	// Looked at before it is opened: a file that replaces this one in between is then seen as a change later.
	identity, err := identify(path)
	if err != nil {
		return nil, err
	}
	file, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Release()
		}
	}()
	// engines may read the file while they open
	defer region.Recover(&err, region.FaultsPanic())
	info, err := file.Info()
	if err != nil {
		return nil, err
	}
	p = &Pinned{File: file, identity: identity, opened: time.Now(), timestamp: info.Timestamp, logger: logger}
	index, err := geocoding.Open(file)
	if err != nil {
		return nil, err
	}
	graph, err := roadgraph.Open(file)
	if err != nil {
		return nil, err
	}
	p.Places, p.Matcher = index, matching.New(graph, matching.Options{})
	return p, nil
}

// Covers reports whether a position lies in the region.
func (p *Pinned) Covers(point orb.Point) (covered bool, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	return p.File.Covers(point), nil
}
