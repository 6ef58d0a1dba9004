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

// batch is a batch that is full with one object.
type batch struct{ add func() }

func (b batch) Add(*osmfile.Object) bool {
	b.add()
	return true
}

// scanNodes scans a file of a hundred nodes, each in a block of its own. None of the scan's goroutines may go on after it.
func scanNodes(ctx context.Context, t *testing.T, add func(), each func(osmfile.Batch) error) error {
	node := osmtest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{nil})
	block := osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(""), node), false)
	content := string(osmtest.Header(0)) + strings.Repeat(string(block), 100)
	return osmfile.InMemory(t, content).Scan(ctx, osmfile.Nodes, func() osmfile.Batch { return batch{add} }, each)
}

// TestCancelBusyScan: a scan that is cancelled while all workers are busy and more blocks wait for them ends.
func TestCancelBusyScan(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, workers := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(workers)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error)
			go func() {
				done <- scanNodes(ctx, t, func() { <-ctx.Done() }, func(osmfile.Batch) error { return nil })
			}()
			synctest.Wait() // until all workers are busy
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers: %v", workers, err)
			}
		})
	}
}

// TestFailingScan: an error of the function that takes the batches ends a scan.
func TestFailingScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, n := errors.New("failed"), 0
		err := scanNodes(t.Context(), t, func() {}, func(osmfile.Batch) error {
			if n++; n == 3 {
				return failed
			}
			return nil
		})
		if err != failed || n != 3 {
			t.Error(n, err)
		}
	})
}
