package mapsapp

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Metrics are the service's collectors. They outlive configurations and are registered anew with each, because Caddy
// makes a registry for every configuration.
type Metrics struct {
	collectors []prometheus.Collector

	// Exchanges counts exchanges of client and server tokens by their result.
	Exchanges Results
	// Auth counts checks of access tokens by their result.
	Auth AuthResults

	refusals, quota  *prometheus.CounterVec
	lookups, matches prometheus.Histogram
	tiles            prometheus.Histogram
	cachedTiles      prometheus.Counter
	overloaded       prometheus.Counter
}

// Results are the counters of one operation, resolved once so that counting costs no look-up.
type Results struct {
	// OK: a valid token, or an exchange that gave one.
	OK prometheus.Counter
	// NoToken: nothing was presented.
	NoToken prometheus.Counter
	// Invalid: what was presented is not valid.
	Invalid prometheus.Counter
	// NoScope: it is valid, without the scope that is needed.
	NoScope prometheus.Counter
	// Unavailable: the store could not be asked.
	Unavailable prometheus.Counter
}

// AuthResults are Results of those who also look at from where a token is used, and how much.
type AuthResults struct {
	Results
	// Restricted: the token may not be used from where the request comes from.
	Restricted prometheus.Counter
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
		Help: "Requests that were refused because a quota was used up, by the scope that the quota names; * for all.",
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
			newResults(auth), auth.WithLabelValues("restricted"), auth.WithLabelValues("quota"),
		},
		lookups: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "lookup_seconds",
			Help:    "Time that reverse geocodings took.",
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 12), // 1 µs to 4 s
		}),
		matches: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "match_seconds",
			Help:    "Time that map matchings took.",
			Buckets: prometheus.ExponentialBuckets(1e-4, 3, 11), // 0.1 ms to 6 s
		}),
	}
	m.tiles = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "tile_seconds",
		Help:    "Time that tiles took to cut which the cache did not have.",
		Buckets: prometheus.ExponentialBuckets(1e-5, 4, 10), // 10 µs to 2.6 s
	})
	m.cachedTiles = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "tile_cache_hits_total",
		Help: "Tiles that were found in the cache.",
	})
	m.overloaded = prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "overloaded_total",
		Help: "Requests that were refused because they would have had to wait for longer than max_wait.",
	})
	m.collectors = []prometheus.Collector{
		exchanges, auth, refusals, quota, m.lookups, m.matches, m.tiles, m.cachedTiles, m.overloaded,
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "cache_hits_total",
			Help: "Access tokens that were found in the cache of verified tokens.",
		}, hits.total),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "store_staleness_seconds",
			Help: "For how long the store of accounts has not answered; 0 while it does.",
		}, longestStaleness),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "store_clock_offset_seconds",
			Help: "By how much the clock of this machine is ahead of the store's; 0 where the store has none of its own.",
		}, largestClockOffset),
	}
	m.collectors = append(m.collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "usage_waiting_seconds",
		Help: "For how long counts of usage have been waiting in memory for a store that does not take them; " +
			"0 while it does.",
	}, longestUsageWait))
	m.collectors = append(m.collectors, faultMetrics()...)
	m.collectors = append(m.collectors, regionTimestamps{prometheus.NewDesc(
		prometheus.BuildFQName(namespace, subsystem, "region_timestamp_seconds"),
		"How new the map data of a region is, as Unix time; 0 where there is none, or nobody knows.",
		[]string{"region"}, nil,
	)})
	return m
}

// addAdmission adds what requests hold of that which they share.
func (m *Metrics) addAdmission(s *shared) {
	m.collectors = append(m.collectors,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "bodies_in_flight_bytes",
			Help: "Memory that is set aside for bodies, of max_bodies_in_flight.",
		}, func() float64 { return float64(s.bodies.Held()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "requests_waiting",
			Help: "Requests that wait for a processor, or for memory for a body.",
		}, func() float64 { return float64(s.bodies.Waiting() + s.processors.Waiting()) }))
}

// longestStaleness is that of the store which has been silent for longest; during a reload there may be two.
func longestStaleness() float64 {
	var longest time.Duration
	stores.Range(func(_, value any) bool {
		longest = max(longest, value.(*openStore).staleness())
		return true
	})
	return longest.Seconds()
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

// CountOverload counts a request that is refused because it would have to wait for too long.
func (m *Metrics) CountOverload() { m.overloaded.Inc() }

// ObserveLookup records how long a reverse geocoding took.
func (m *Metrics) ObserveLookup(d time.Duration) { m.lookups.Observe(d.Seconds()) }

// ObserveMatch records how long a map matching took.
func (m *Metrics) ObserveMatch(d time.Duration) { m.matches.Observe(d.Seconds()) }

// ObserveTile records how long it took to cut a tile.
func (m *Metrics) ObserveTile(d time.Duration) { m.tiles.Observe(d.Seconds()) }

// CountCachedTile counts a tile that was found in the cache.
func (m *Metrics) CountCachedTile() { m.cachedTiles.Inc() }
