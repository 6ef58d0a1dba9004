package mapsapp

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// probeEvery is how often the store is asked whether it can be changed while nothing fails, so that a full disk
	// is known before the first client meets it. While changes fail, it is asked at each check.
	probeEvery = time.Minute
	// firstProbe is when it is asked first. Before that, over a slow link, the start needs the connection.
	firstProbe = 15 * time.Second
	probeLimit = 5 * time.Second
	// faultLogEvery is the least time between two lines of the log about changes that fail.
	faultLogEvery = time.Minute
)

// faultLabels are the faults of stores, as the metrics name them.
var faultLabels = map[account.Fault]string{
	account.FaultCannotWrite: "cannot_write",
	account.FaultDamaged:     "damaged",
}

// failedChanges counts the changes that stores could not make since the process started.
var failedChanges atomic.Uint64

// writing is whether a store can be changed. What a request met says that something is wrong; a probe says whether
// it is more than that one change.
type writing struct {
	cannot atomic.Bool

	mu sync.Mutex
	// failed is how many changes failed since the last line in the log, and why is the error of the last one.
	failed uint64
	why    error
	// suspected is whether one failed since the last probe.
	suspected bool

	// For the checks alone: when the store was probed last, when the log had the last line of a failure, and whether
	// it says that the store cannot write.
	probed, logged time.Time
	said           bool
}

// changeFailed takes note of a change that the store did not make.
func (s *openStore) changeFailed(err error) {
	failedChanges.Add(1)
	w := &s.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	w.why, w.suspected = err, true
}

// takeSuspicion reports whether a change failed since it was called last.
func (w *writing) takeSuspicion() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	suspected := w.suspected
	w.suspected = false
	return suspected
}

// takeFailed returns what the log has not said yet.
func (w *writing) takeFailed() (failed uint64, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed, why = w.failed, w.why
	w.failed, w.why = 0, nil
	return failed, why
}

// checkWrites finds out whether the store can be changed, where there is doubt or nobody has looked for a while.
func (s *openStore) checkWrites(ctx context.Context) {
	w := &s.writing
	if !w.takeSuspicion() && !w.cannot.Load() && time.Since(w.probed) < probeEvery {
		s.logFailed(nil)
		return
	}
	reads, err := s.tryWrite(ctx)
	switch {
	case ctx.Err() != nil:
		return // closing
	case !reads:
		w.probed = time.Time{} // that it does not answer is said elsewhere; whether it can write is asked when it does
		return
	}
	w.probed = time.Now()
	was := w.cannot.Swap(err != nil)
	if err == nil && was && w.said {
		w.said = false
		failed, _ := w.takeFailed()
		s.logger.Info("the store can write again", zap.Uint64("failed_changes", failed))
		return
	}
	s.logFailed(err)
}

// tryWrite probes the store, a second time if the first fails, since a connection may have broken just then.
// reads is whether it answers.
func (s *openStore) tryWrite(ctx context.Context) (reads bool, err error) {
	for range 2 {
		probing, cancel := context.WithTimeout(ctx, probeLimit)
		err = s.live.Probe(probing)
		cancel()
		if err == nil {
			return true, nil
		}
		reading, cancel := context.WithTimeout(ctx, storeCheckLimit)
		_, readErr := s.live.Store.Account(reading, "sa_")
		cancel()
		if !answers(readErr) {
			return false, err
		}
	}
	return true, err
}

// logFailed writes a line about what a probe, or else the changes of requests, met, once in a while.
func (s *openStore) logFailed(probe error) {
	w := &s.writing
	if !w.logged.IsZero() && time.Since(w.logged) < faultLogEvery {
		return
	}
	failed, why := w.takeFailed()
	switch {
	case probe != nil:
		w.said = true
		s.logger.Error("the store cannot write: what would change it is answered 503. Make room on its disk, or see "+
			"to what the error says; it goes on by itself", zap.Error(probe), zap.Uint64("failed_changes", failed))
	case failed > 0:
		s.logger.Error("changes of the store failed", zap.Error(why), zap.Uint64("failed_changes", failed))
	default:
		return
	}
	w.logged = time.Now()
}

// faults is what is wrong with the store, although it answers.
func (s *openStore) faults() []account.Fault {
	var list []account.Fault
	if s.writing.cannot.Load() {
		list = append(list, account.FaultCannotWrite)
	}
	if faulty, ok := s.live.Store.(account.Faulty); ok {
		list = append(list, faulty.Faults()...)
	}
	return list
}

// faultMetrics are gauges of the faults, each of which is there from the start, and the count of changes that
// failed.
func faultMetrics() []prometheus.Collector {
	list := []prometheus.Collector{prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "store_write_failures_total",
		Help: "Changes of accounts, grants and keys that the store could not make.",
	}, func() float64 { return float64(failedChanges.Load()) })}
	for fault, label := range faultLabels {
		list = append(list, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "store_faults",
			Help:        "Whether something is wrong with the store although it answers, by fault: 1 while it is.",
			ConstLabels: prometheus.Labels{"fault": label},
		}, func() float64 { return anyStoreHas(fault) }))
	}
	return list
}

// anyStoreHas is 1 if an open store has a fault; during a reload there may be two stores.
func anyStoreHas(fault account.Fault) float64 {
	var found float64
	stores.Range(func(_, value any) bool {
		if slices.Contains(value.(*openStore).faults(), fault) {
			found = 1
		}
		return true
	})
	return found
}
