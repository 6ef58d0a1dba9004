package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape reads the metrics of a server as Prometheus does.
func (s *server) scrape(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	text := s.sendAdmin(t, call{path: "/metrics"}).want(200).body
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// counted returns the value of the counter whose labels have all of these values.
func counted(families map[string]*dto.MetricFamily, name string, values ...string) float64 {
	for _, m := range families[name].GetMetric() {
		var has []string
		for _, l := range m.GetLabel() {
			has = append(has, l.GetValue())
		}
		if slices.Equal(has, values) {
			return m.GetCounter().GetValue()
		}
	}
	return 0
}

var (
	metricName     = regexp.MustCompile(`\b(?:caddy|go|process)_[a-z0-9_]+\b`)
	metricSelector = regexp.MustCompile(`\b((?:caddy|go|process)_[a-z0-9_]+)\{([^}]*)\}`)
	metricLabel    = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"([^"]*)"`)
)

// Every alert of docs/grafana/alerts.yaml has data from the start, because Prometheus sees no increase in a series
// that did not exist. Counters go on after a reload, which gives Caddy a new registry.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	families := s.scrape(t)
	asked := 0
	for _, expression := range regexp.MustCompile(`(?m)^ +expr: (.*)$`).FindAllStringSubmatch(
		readFile(t, "docs/grafana/alerts.yaml"), -1) {
		row := expression[1]
		for _, name := range metricName.FindAllString(row, -1) {
			asked++
			if len(families[name].GetMetric()) == 0 {
				t.Errorf("a server that has just started has no %s", name)
			}
		}
		for _, one := range metricSelector.FindAllStringSubmatch(row, -1) {
			if !slices.ContainsFunc(families[one[1]].GetMetric(), func(m *dto.Metric) bool {
				return len(metricLabel.FindAllString(one[2], -1)) == countLabels(m, one[2])
			}) {
				t.Errorf("a server that has just started has no %s", one[0])
			}
		}
	}
	if asked < 8 {
		t.Errorf("there are only %d metrics in the alerts", asked)
	}
	acc := s.create(t, s.userToken(t, "metrics"), nil)
	s.exchange(t, acc.ClientToken, acc.ServerToken)
	text, err := caddyfileWith("max_stale 60s", "max_stale 59s")
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.reload(t, text); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}
	if n := counted(s.scrape(t), "caddy_maps_exchanges_total", "ok"); n != 1 {
		t.Errorf("%v exchanges are counted after a reload, want 1", n)
	}
}

// countLabels is how many labels of a selector a metric has.
func countLabels(m *dto.Metric, selector string) (n int) {
	for _, want := range metricLabel.FindAllStringSubmatch(selector, -1) {
		for _, l := range m.GetLabel() {
			if l.GetName() == want[1] && l.GetValue() == want[2] {
				n++
			}
		}
	}
	return n
}

// The dashboard shows metrics and labels that a server has, and all of ours.
func TestDashboard(t *testing.T) {
	leaveOut(t, "checks documents")
	t.Parallel()
	s := startServer(t)
	acc := s.create(t, s.userToken(t, "dashboard"), nil)
	s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.send(t, call{path: reverse + place}).want(401)
	labels := map[string][]string{} // by the name of a sample
	for name, family := range s.scrape(t) {
		all := []string{"job", "instance"} // added by Prometheus
		for _, l := range family.GetMetric()[0].GetLabel() {
			all = append(all, l.GetName())
		}
		labels[name] = all
		if family.GetType() == dto.MetricType_HISTOGRAM {
			labels[name+"_count"], labels[name+"_sum"], labels[name+"_bucket"] = all, all, append(all, "le")
			delete(labels, name)
		}
	}
	dashboard, err := os.ReadFile(filepath.Join(root, "docs", "grafana", "caddy-maps.json"))
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, query := range regexp.MustCompile(`"(?:expr|definition)": *("(?:[^"\\]|\\.)*")`).FindAllSubmatch(dashboard, -1) {
		var text string
		if err := json.Unmarshal(query[1], &text); err != nil {
			t.Fatal(err)
		}
		for _, name := range metricName.FindAllString(text, -1) {
			if asked[name] = true; labels[name] == nil {
				t.Errorf("a server has no metric %s", name)
			}
		}
		for _, found := range metricSelector.FindAllStringSubmatch(text, -1) {
			for _, label := range metricLabel.FindAllStringSubmatch(found[2], -1) {
				if !slices.Contains(labels[found[1]], label[1]) {
					t.Errorf("%s has no label %s", found[1], label[1])
				}
			}
		}
	}
	for name := range labels {
		if strings.HasPrefix(name, "caddy_maps_") && !strings.HasSuffix(name, "_sum") && !asked[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}
