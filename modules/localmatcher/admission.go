package localmatcher

import (
	"context"
	"runtime"
)

// longTrace is the number of points from which a trace counts as long. A shorter one takes a few milliseconds.
const longTrace = 500

// longTraces limits how many long traces are matched at once, in the whole process, to the number of processors: more would
// finish no sooner, and each would hold its memory for longer. Short ones are never held up.
var longTraces = make(chan struct{}, runtime.GOMAXPROCS(0))

// admit waits until a trace may be matched; release must be called after it.
func admit(ctx context.Context, points int) (release func(), err error) {
	if points < longTrace {
		return func() {}, nil
	}
	select {
	case longTraces <- struct{}{}:
		return func() { <-longTraces }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
