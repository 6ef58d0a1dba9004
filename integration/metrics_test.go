package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// Every refusal is counted under its reason, and what the map endpoints do in histograms.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	known := len(s.scrape(t)["caddy_maps_refusals_total"].GetMetric())
	user := s.userToken(t, "refusals")
	acc := s.create(t, user, nil)
	narrow := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	tile, _ := s.exchange(t, narrow.ClientToken, narrow.ServerToken)
	for range 3 {
		s.send(t, call{path: reverse + place, bearer: access}).want(200)
	}
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(200)
	s.send(t, call{path: reverse + place}).want(401)
	s.send(t, call{path: reverse + place, bearer: "x"}).want(401)
	s.send(t, call{path: reverse + place, bearer: access[:len(access)-4] + "AAAA"}).want(401)
	s.send(t, call{path: reverse + place, bearer: user}).want(401)
	s.send(t, call{path: reverse + place, bearer: tile}).want(403)
	s.send(t, exchangeCall(acc.ClientToken, "mps_x")).want(401)
	s.send(t, exchangeCall(acc.ClientToken, narrow.ServerToken)).want(403)
	s.send(t, call{path: accounts}).want(401)
	s.send(t, call{path: accounts, bearer: access}).want(403)
	s.setStatus(t, user, acc.ID, "SUSPENDED")
	s.send(t, call{path: reverse + place, bearer: access}).want(401)
	s.send(t, exchangeCall(acc.ClientToken, acc.ServerToken)).want(401)

	families := s.scrape(t)
	want := map[[2]string]float64{
		{"maps_auth", "no token"}:                                                   1,
		{"maps_auth", "malformed"}:                                                  1,
		{"maps_auth", "bad signature"}:                                              1,
		{"maps_auth", "wrong type of token"}:                                        1,
		{"maps_auth", "insufficient scope"}:                                         1,
		{"maps_auth", "account suspended"}:                                          1,
		{"maps_tokens", "malformed"}:                                                1,
		{"maps_tokens", "no scope in common"}:                                       1,
		{"maps_tokens", "account suspended"}:                                        1,
		{"maps_accounts", "no token"}:                                               1,
		{"maps_accounts", "an account behind the access token is no administrator"}: 1,
	}
	for labels, n := range want {
		if got := counted(families, "caddy_maps_refusals_total", labels[0], labels[1]); got != n {
			t.Errorf("%v refusals of %s for %q, want %v", got, labels[0], labels[1], n)
		}
	}
	refusals := families["caddy_maps_refusals_total"]
	var kinds int
	for _, m := range refusals.GetMetric() {
		if m.GetCounter().GetValue() > 0 {
			kinds++
		}
	}
	if kinds != len(want) {
		t.Errorf("%d kinds of refusals were counted, want %d: %v", kinds, len(want), refusals)
	}
	if got := len(refusals.GetMetric()); got != known {
		t.Errorf("%d refusals have a series, and %d had one at the start", got, known)
	}
	for result, n := range map[string]float64{"ok": 2, "invalid": 2, "insufficient_scope": 1, "unavailable": 0} {
		if got := counted(families, "caddy_maps_exchanges_total", result); got != n {
			t.Errorf("%v exchanges were %s, want %v", got, result, n)
		}
	}
	for result, n := range map[string]float64{"ok": 4, "invalid": 4, "insufficient_scope": 1, "no_token": 1} {
		if got := counted(families, "caddy_maps_auth_total", result); got != n {
			t.Errorf("%v checks were %s, want %v", got, result, n)
		}
	}
	if counted(families, "caddy_maps_cache_hits_total") == 0 {
		t.Error("no cache hit was counted")
	}
	for name, n := range map[string]uint64{"caddy_maps_lookup_seconds": 3, "caddy_maps_match_seconds": 1} {
		h := families[name].GetMetric()[0].GetHistogram()
		if h.GetSampleCount() != n || h.GetSampleSum() <= 0 || time.Duration(h.GetSampleSum()*1e9) > time.Minute || len(h.GetBucket()) < 10 {
			t.Errorf("%s: %v; want %d samples", name, h, n)
		}
	}
}

// Every alert of docs/grafana/alerts.yaml has data from the start: a rise from nothing is none to Prometheus.
func TestAlertsHaveData(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "grafana", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	families := startServer(t).scrape(t)
	var (
		expression = regexp.MustCompile(`(?m)^ +expr: (.*)$`)
		selector   = regexp.MustCompile(`\b(caddy_[a-z0-9_]+)(?:\{([^}]*)\})?`)
		matcher    = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
		asked      int
	)
	for _, alert := range expression.FindAllStringSubmatch(string(text), -1) {
		selected := selector.FindAllStringSubmatch(alert[1], -1)
		if len(selected) == 0 {
			t.Errorf("no metric is asked for by %s", alert[1])
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
	if asked < 8 {
		t.Errorf("there are only %d expressions", asked)
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
