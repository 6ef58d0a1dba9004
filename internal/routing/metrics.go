package routing

import (
	"context"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// metrics are those that have been customized for requests. They are kept up to metricBytes.
type metrics struct {
	mu   sync.Mutex
	kept []*custom // the one that was used last comes last
}

// custom is a metric that has been customized or soon will be.
type custom struct {
	costs Costs
	ready chan struct{}
	m     *metric // when ready
	err   error
}

const (
	// metricBytes is the memory for metrics of a profile.
	metricBytes = 256 << 20
	// patience is how long a request waits for a metric.
	patience = 2 * time.Second
	// retryAfter is when to ask again for one that takes longer, in seconds.
	retryAfter = 10
)

// get returns the metric of some costs without polygons, with lengths. If it takes too long, it goes on in the
// background, and the error is a *NotReadyError.
func (k *metrics) get(ctx context.Context, f *region.File, o *Overlay, costs Costs) (*metric, error) {
	c := k.find(f, o, costs)
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-c.ready:
		return c.m, c.err
	case <-timeout.C:
		return nil, &NotReadyError{RetryAfter: retryAfter}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (k *metrics) find(f *region.File, o *Overlay, costs Costs) *custom {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, c := range k.kept {
		if c.costs.Avoid == costs.Avoid {
			k.kept = append(append(k.kept[:i], k.kept[i+1:]...), c)
			return c
		}
	}
	c := &custom{costs: costs, ready: make(chan struct{})}
	k.kept = append(k.kept, c)
	if !f.Acquire() {
		c.err = &region.DamageError{Path: f.Path(), Problem: "it has been replaced"}
		close(c.ready)
		return c
	}
	go func() {
		defer f.Release()
		c.err = c.customize(o)
		close(c.ready)
		k.settle(c)
	}()
	return c
}

func (c *custom) customize(o *Overlay) (err error) {
	defer region.Recover(&err, region.FaultsPanic())
	model := NewModel(c.costs)
	m, err := Customize(context.Background(), o, model)
	if err == nil {
		c.m = newMetric(o, fullMatrices{m}, model)
	}
	return err
}

// settle forgets a metric that failed, and those that have not been used for longest if there are too many.
func (k *metrics) settle(done *custom) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sum := int64(0)
	for i := len(k.kept) - 1; i >= 0; i-- {
		c := k.kept[i]
		select {
		case <-c.ready:
		default:
			continue
		}
		if c.err == nil {
			sum += 8 * int64(len(c.m.matrices.(fullMatrices).costs))
		}
		if c.err != nil || sum > metricBytes && c != done {
			k.kept = append(k.kept[:i], k.kept[i+1:]...)
		}
	}
}
