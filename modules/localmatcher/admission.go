package localmatcher

import (
	"context"
	"runtime"
)

// longTrace is the number of points from which a trace counts as long. A shorter one takes a few milliseconds.
const longTrace = 500

// longTraces limits how many long traces are matched at once, in the whole process, to one less than there are processors:
// more would hardly finish sooner, each would hold its memory for longer, and short ones, which are never held up, would have
// to share what processors there are with them.
var longTraces = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

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
