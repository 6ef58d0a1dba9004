package app

import (
	"errors"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
)

// Metrics are the service's collectors. They outlive configurations and are registered again with each, because Caddy
// creates a registry for every configuration.
type Metrics struct {
	collectors []prometheus.Collector

	// Exchanges counts exchanges of client and server tokens by their result.
	Exchanges Results
	// Auth counts checks of access tokens by their result.
	Auth AuthResults

	// Lookups, Matches and Tiles observe, in seconds, searches and reverse geocodings, map matchings, and tiles that were
	// rendered.
	Lookups, Matches, Tiles prometheus.Histogram
	// CachedTiles counts tiles that were found in the cache.
	CachedTiles prometheus.Counter
	// Overloaded counts requests that are refused because they would have to wait for too long.
	Overloaded prometheus.Counter

	refusals, quota *prometheus.CounterVec
	endedGrants     prometheus.Counter
}

// Results are the counters of one operation, resolved once so that counting needs no lookup.
type Results struct {
	// OK: a valid token, or a successful exchange.
	OK prometheus.Counter
	// NoToken: the request had no token.
	NoToken prometheus.Counter
	// Invalid: the token is not valid.
	Invalid prometheus.Counter
	// NoScope: the token is valid, but lacks a required scope.
	NoScope prometheus.Counter
	// Unavailable: the store could not be asked.
	Unavailable prometheus.Counter
}

// AuthResults are Results with those of restrictions, rate limits and quotas.
type AuthResults struct {
	Results
	// Restricted: the request violates the account's restrictions.
	Restricted prometheus.Counter
	// Limited: the account sends too many requests.
	Limited prometheus.Counter
	// Quota: a quota is used up.
	Quota prometheus.Counter
}

// The beginning of the metrics' names.
const namespace, subsystem = "caddy", "maps"

func newResults(vec *prometheus.CounterVec) Results {
	return Results{
		OK:          vec.WithLabelValues("ok"),
		NoToken:     vec.WithLabelValues("no_token"),
		Invalid:     vec.WithLabelValues("invalid"),
		NoScope:     vec.WithLabelValues("insufficient_scope"),
		Unavailable: vec.WithLabelValues("unavailable"),
	}
}

func newMetrics() *Metrics {
	exchanges := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "exchanges_total",
		Help: "Exchanges of a client and a server token for an access token, by result.",
	}, []string{"result"})
	auth := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "auth_total",
		Help: "Checks of access tokens on requests, by result.",
	}, []string{"result"})
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "refusals_total",
		Help: "Requests that were refused for their credentials, by handler and reason.",
	}, []string{"handler", "reason"})
	for _, labels := range knownRefusals {
		refusals.WithLabelValues(labels.handler, labels.reason)
	}
	quota := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "quota_refused_total",
		Help: "Requests that were refused because a quota was used up, by the scope of the quota; * for all scopes.",
	}, []string{"scope"})
	quota.WithLabelValues(account.EveryScope)
	for _, scope := range account.AllScopes {
		quota.WithLabelValues(string(scope))
	}
	m := &Metrics{
		refusals:  refusals,
		quota:     quota,
		Exchanges: newResults(exchanges),
		Auth: AuthResults{
			newResults(auth), auth.WithLabelValues("restricted"), auth.WithLabelValues("rate_limited"),
			auth.WithLabelValues("quota"),
		},
		Lookups: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "lookup_seconds",
			Help:    "Duration of searches and reverse geocodings.",
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 12), // 1 µs to 4 s
		}),
		Matches: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "match_seconds",
			Help:    "Duration of map matchings.",
			Buckets: prometheus.ExponentialBuckets(1e-4, 3, 11), // 0.1 ms to 6 s
		}),
	}
	m.Tiles = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "tile_seconds",
		Help:    "Time to render a tile that was not in the cache.",
		Buckets: prometheus.ExponentialBuckets(1e-5, 4, 10), // 10 µs to 2.6 s
	})
	m.CachedTiles = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "tile_cache_hits_total",
		Help: "Tiles that were found in the cache.",
	})
	m.Overloaded = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "overloaded_total",
		Help: "Requests that were refused because they would have had to wait for longer than max_wait.",
	})
	m.endedGrants = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "grants_ended_total",
		Help: "Refresh tokens that ended early because their accounts had more than max_grants.",
	})
	m.collectors = []prometheus.Collector{
		exchanges, auth, refusals, quota, m.Lookups, m.Matches, m.Tiles, m.CachedTiles, m.Overloaded,
		m.endedGrants,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "cache_hits_total",
			Help: "Access tokens that were found in the cache of verified tokens.",
		}, totalHits),
		storeGauge("store_staleness_seconds", "How long the store of accounts has not answered; 0 while it does.", nil,
			func(s *openStore) float64 { return s.Health().Silent.Seconds() }),
		storeGauge("store_clock_offset_seconds",
			"How far the clock of this machine is ahead of the store's; 0 if the store has no clock of its own.", nil,
			func(s *openStore) float64 { return time.Since(s.Now()).Round(time.Millisecond).Seconds() }),
		storeGauge("usage_waiting_seconds",
			"How long usage counts have been waiting in memory because the store cannot write them; 0 while it can.", nil,
			func(s *openStore) float64 { return s.meter.Waiting().Seconds() }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "store_write_failures_total",
			Help: "Changes that the store could not make since it was opened.",
		}, overStores(func(s *openStore) float64 { return float64(s.Health().FailedWrites) })),
	}
	for fault, has := range map[string]func(store.Health) bool{
		"cannot_write": func(h store.Health) bool { return h.Write != nil },
		"damaged":      func(h store.Health) bool { return h.Damage != nil },
	} {
		m.collectors = append(m.collectors, storeGauge("store_faults",
			"Whether a store that answers has a fault, by fault: 1 while it has.",
			prometheus.Labels{"fault": fault}, func(s *openStore) float64 {
				if has(s.Health()) {
					return 1
				}
				return 0
			}))
	}
	m.collectors = append(m.collectors, regionTimestamps{prometheus.NewDesc(
		prometheus.BuildFQName(namespace, subsystem, "region_timestamp_seconds"),
		"Time of the newest map data of a region, as Unix time; 0 if there is none or it is unknown.",
		[]string{"region"}, nil,
	)})
	return m
}

// addAdmission adds the gauges of shared resources.
func (m *Metrics) addAdmission(s *shared) {
	m.collectors = append(m.collectors,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "bodies_in_flight_bytes",
			Help: "Memory reserved for bodies, of max_bodies_in_flight.",
		}, func() float64 { return float64(s.bodies.Held()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_waiting",
			Help: "Requests that wait for a processor or for memory for a body.",
		}, func() float64 { return float64(s.bodies.Waiting() + s.processors.Waiting()) }))
}

// storeGauge is a gauge of the open store.
func storeGauge(name, help string, labels prometheus.Labels, value func(*openStore) float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: name, Help: help, ConstLabels: labels,
	}, overStores(value))
}

// overStores is the largest value of all open stores. During a reload there may be two.
func overStores(value func(*openStore) float64) func() float64 {
	return func() (largest float64) {
		openStores.Range(func(s, _ any) bool {
			if v := value(s.(*openStore)); math.Abs(v) > math.Abs(largest) {
				largest = v
			}
			return true
		})
		return largest
	}
}

// CountQuotaRefusal counts a request that was refused by a quota of a scope, or of account.EveryScope.
func (m *Metrics) CountQuotaRefusal(scope string) { m.quota.WithLabelValues(scope).Inc() }

func (m *Metrics) register(registry *prometheus.Registry) error {
	for _, c := range m.collectors {
		var already prometheus.AlreadyRegisteredError
		if err := registry.Register(c); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}
