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

// Every alert that docs/operating.md suggests has data from the start: a rise from nothing is none to Prometheus.
func TestAlertsHaveData(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| Alert | Meaning |\n|---|---|\n")
	if !found {
		t.Fatal("docs/operating.md has no table of alerts")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	families := startServer(t).scrape(t)
	var (
		code     = regexp.MustCompile("`([^`]*)`")
		selector = regexp.MustCompile(`\b(caddy_[a-z0-9_]+)(?:\{([^}]*)\})?`)
		matcher  = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
		asked    int
	)
	for row := range strings.SplitSeq(table, "\n") {
		alert := strings.Split(row, "|")[1]
		for _, expression := range code.FindAllStringSubmatch(alert, -1) {
			selected := selector.FindAllStringSubmatch(expression[1], -1)
			if len(selected) == 0 {
				t.Errorf("no metric is asked for by %s", expression[1])
			}
			for _, one := range selected {
				asked++
				labels := map[string]string{}
				for _, m := range matcher.FindAllStringSubmatch(one[2], -1) {
					labels[m[1]] = m[2]
				}
				if !slices.ContainsFunc(families[one[1]].GetMetric(), func(m *dto.Metric) bool { return hasLabels(m, labels) }) {
					t.Errorf("a server that has just started has no %s", one[0])
				}
			}
		}
	}
	if asked < 8 {
		t.Errorf("there are only %d expressions in the table", asked)
	}
}

func hasLabels(m *dto.Metric, want map[string]string) bool {
	found := 0
	for _, l := range m.GetLabel() {
		if value, asked := want[l.GetName()]; asked && value == l.GetValue() {
			found++
		}
	}
	return found == len(want)
}

// The dashboard asks for metrics and labels that a server has, and for all of ours.
func TestDashboard(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	acc := s.create(t, s.userToken(t, "dashboard"), nil)
	s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.send(t, call{path: reverse + place}).want(401)
	labels := map[string][]string{} // by the name of a sample
	for name, family := range s.scrape(t) {
		all := []string{"job", "instance"} // Prometheus adds them
		for _, l := range family.GetMetric()[0].GetLabel() {
			all = append(all, l.GetName())
		}
		if family.GetType() == dto.MetricType_HISTOGRAM {
			labels[name+"_count"], labels[name+"_sum"], labels[name+"_bucket"] = all, all, append(all, "le")
		} else {
			labels[name] = all
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "docs", "grafana", "caddy-maps.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	var questions []string
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		if len(p.Targets) == 0 && p.Type != "row" || ids[p.ID] {
			t.Errorf("panel %q asks for nothing, or has the id of another", p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			questions = append(questions, target.Expr)
		}
	}
	for _, v := range dashboard.Templating.List {
		if v.Definition != "" {
			questions = append(questions, v.Definition)
		}
	}
	var (
		metric   = regexp.MustCompile(`\b(?:caddy|go|process)_[a-z0-9_]+\b`)
		selector = regexp.MustCompile(`\b((?:caddy|go|process)_[a-z0-9_]+)\{([^}]*)\}`)
		matcher  = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
		grouping = regexp.MustCompile(`by \(([^)]*)\) \((?:rate|increase)?\(?((?:caddy|go|process)_[a-z0-9_]+)`)
		asked    = map[string]bool{}
	)
	for _, q := range questions {
		names := metric.FindAllString(q, -1)
		if len(names) == 0 || strings.Count(q, "(") != strings.Count(q, ")") {
			t.Errorf("no metric is asked for by %s", q)
		}
		for _, name := range names {
			asked[name] = true
			if labels[name] == nil {
				t.Errorf("a server has no metric %s", name)
			}
		}
		for _, found := range selector.FindAllStringSubmatch(q, -1) {
			for _, label := range matcher.FindAllStringSubmatch(found[2], -1) {
				if !slices.Contains(labels[found[1]], label[1]) {
					t.Errorf("%s has no label %s", found[1], label[1])
				}
			}
		}
		for _, found := range grouping.FindAllStringSubmatch(q, -1) {
			for label := range strings.SplitSeq(found[1], ", ") {
				if !slices.Contains(labels[found[2]], label) {
					t.Errorf("%s has no label %s", found[2], label)
				}
			}
		}
	}
	for name := range labels {
		if strings.HasPrefix(name, "caddy_maps_") && !strings.HasSuffix(name, "_sum") && !asked[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
	if len(questions) < 10 {
		t.Errorf("the dashboard asks only %d questions", len(questions))
	}
}
