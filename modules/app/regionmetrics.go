package app

import "github.com/prometheus/client_golang/prometheus"

// regionTimestamps collects the time of the newest data of each region of the active configuration.
type regionTimestamps struct{ desc *prometheus.Desc }

// Describe implements prometheus.Collector.
func (r regionTimestamps) Describe(descs chan<- *prometheus.Desc) { descs <- r.desc }

// Collect implements prometheus.Collector.
func (r regionTimestamps) Collect(metrics chan<- prometheus.Metric) {
	app := active()
	if app == nil {
		return // no configuration is active yet
	}
	for _, status := range app.RegionStatus() {
		var seconds float64
		if !status.Timestamp.IsZero() {
			seconds = float64(status.Timestamp.Unix())
		}
		metrics <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, seconds, status.Name)
	}
}

// Interface guard
var _ prometheus.Collector = regionTimestamps{}
