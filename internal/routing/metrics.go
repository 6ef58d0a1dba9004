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
	avoid Avoid
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

// get returns the metric that avoids some things, with lengths. If it takes too long, it goes on in the
// background, and the error is a *NotReadyError.
func (k *metrics) get(ctx context.Context, f *region.File, n *network, speeds Speeds, avoid Avoid) (*metric, error) {
	c := k.find(f, n, speeds, avoid)
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

func (k *metrics) find(f *region.File, n *network, speeds Speeds, avoid Avoid) *custom {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, c := range k.kept {
		if c.avoid == avoid {
			k.kept = append(append(k.kept[:i], k.kept[i+1:]...), c)
			return c
		}
	}
	c := &custom{avoid: avoid, ready: make(chan struct{})}
	k.kept = append(k.kept, c)
	if !f.Acquire() {
		c.err = &region.DamageError{Path: f.Path(), Problem: "it has been replaced"}
		close(c.ready)
		return c
	}
	go func() {
		defer f.Release()
		c.err = c.customize(n, speeds)
		close(c.ready)
		k.settle(c)
	}()
	return c
}

func (c *custom) customize(n *network, speeds Speeds) (err error) {
	defer region.Recover(&err, region.FaultsPanic())
	model := NewModel(Costs{Profile: n.profile, Avoid: c.avoid})
	model.speeds = speeds
	m, err := Customize(context.Background(), n.Overlay, model)
	if err == nil {
		c.m = newMetric(n.Overlay, fullMatrices{m}, model)
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
