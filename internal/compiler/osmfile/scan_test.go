package osmfile

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile/osmfiletest"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// endless is XML of one element that never ends.
type endless struct{ head io.Reader }

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestEndlessElement(t *testing.T) {
	dir, err := scratch.Open(t.TempDir(), "test", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f := &File{xml: &xmlReader{&endless{strings.NewReader("<osm><node id='1'>")}, dir}}
	if err := f.convert(t.Context()); err == nil || !strings.Contains(err.Error(), "an element of more than 16777216 bytes") {
		t.Error(err)
	}
}

// blocking is a batch that waits, and says so.
type blocking struct {
	ctx   context.Context
	begun func()
}

func (b *blocking) Add(*Object) bool {
	b.begun()
	<-b.ctx.Done()
	return true
}

// memoryFile is a file that is in memory only.
type memoryFile struct{ *strings.Reader }

func (memoryFile) Close() error { return nil }

func inMemory(t *testing.T, content string) *File {
	f := &File{in: memoryFile{strings.NewReader(content)}, size: int64(len(content))}
	if err := f.readHeader(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCancelBusyScan: a scan that is cancelled while all workers are busy, and more blocks wait for them, ends, and none
// of its goroutines goes on.
func TestCancelBusyScan(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	node := osmfiletest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{nil})
	block := osmfiletest.Block("OSMData", osmfiletest.Primitive(osmfiletest.StringTable(""), node), false)
	file := string(osmfiletest.Header(0)) + strings.Repeat(string(block), 100)
	for _, workers := range []int{1, 2, 3, 8} {
		runtime.GOMAXPROCS(workers)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p := inMemory(t, file)
			done := make(chan error)
			go func() {
				done <- p.Scan(ctx, Nodes, func() Batch { return &blocking{ctx, func() {}} }, func(Batch) error { return nil })
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
	node := osmfiletest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{nil})
	block := osmfiletest.Block("OSMData", osmfiletest.Primitive(osmfiletest.StringTable(""), node), false)
	file := string(osmfiletest.Header(0)) + strings.Repeat(string(block), 100)
	failed := errors.New("failed")
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, file)
		n := 0
		err := p.Scan(t.Context(), Nodes, func() Batch { return new(full) }, func(Batch) error {
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

func (*full) Add(*Object) bool { return true }
