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

// blocking is a batch that waits, and says so.
type blocking struct {
	ctx   context.Context
	begun func()
}

func (b *blocking) Add(*osmfile.Object) bool {
	b.begun()
	<-b.ctx.Done()
	return true
}

// TestCancelBusyScan: a scan that is cancelled while all workers are busy, and more blocks wait for them, ends, and none
// of its goroutines goes on.
func TestCancelBusyScan(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	node := osmtest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{nil})
	block := osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(""), node), false)
	file := string(osmtest.Header(0)) + strings.Repeat(string(block), 100)
	for _, workers := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(workers)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := osmfile.InMemory(t, file)
			done := make(chan error)
			go func() {
				done <- p.Scan(ctx, osmfile.Nodes, func() osmfile.Batch { return &blocking{ctx, func() {}} }, func(osmfile.Batch) error { return nil })
			}()
			synctest.Wait() // until nothing goes on any more
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers: %v", workers, err)
			}
		})
	}
}

// TestFailingScan: an error of whoever takes the batches ends a scan and all of its goroutines.
func TestFailingScan(t *testing.T) {
	node := osmtest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{nil})
	block := osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(""), node), false)
	file := string(osmtest.Header(0)) + strings.Repeat(string(block), 100)
	failed := errors.New("failed")
	synctest.Test(t, func(t *testing.T) {
		p := osmfile.InMemory(t, file)
		n := 0
		err := p.Scan(t.Context(), osmfile.Nodes, func() osmfile.Batch { return new(full) }, func(osmfile.Batch) error {
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

// full is a batch that is full with one object.
type full struct{}

func (*full) Add(*osmfile.Object) bool { return true }
