package osmfile_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// batch is a batch that is full with one object, and takes until the scan is cancelled.
type batch struct{ scan context.Context }

func (b batch) Add(*osmfile.Object) bool {
	<-b.scan.Done()
	return true
}

// TestCancelBusyScan: a scan that is cancelled while all workers are busy and more blocks wait for them ends, with all of
// its goroutines. The file has a hundred nodes, each in a block of its own.
func TestCancelBusyScan(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	node := osmtest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{nil})
	block := osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(""), node), false)
	content := string(osmtest.Header(0)) + strings.Repeat(string(block), 100)
	for _, workers := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(workers)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() {
				wait := func() osmfile.Batch { return batch{ctx} }
				done <- osmfile.InMemory(t, content).Scan(ctx, osmfile.Nodes, wait, func(osmfile.Batch) error { return nil })
			}()
			synctest.Wait() // until all workers are busy
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers: %v", workers, err)
			}
		})
	}
}
