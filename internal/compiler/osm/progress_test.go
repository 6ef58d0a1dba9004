package osm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// progressReport is one call of a progress function.
type progressReport struct {
	stage       string
	done, total int64
}

func TestProgress(t *testing.T) {
	report := func(paths ...string) (reports []progressReport) {
		bar := pipeline.NewBar(func(stage string, done, total int64) {
			reports = append(reports, progressReport{stage, done, total})
		})
		if _, err := osm.Read(t.Context(), osmtest.Dir(t), paths, bar, new(osmtest.Recorder)); err != nil {
			t.Fatal(err)
		}
		return reports
	}
	large := report(testkit.Extract(t, testkit.Delaware))
	checkProgress(t, large, "nodes", "ways", "areas")
	if len(large) < 8 {
		t.Errorf("only %d reports", len(large))
	}
	small := osmtest.Crossing().File(t)
	checkProgress(t, report(small), "nodes", "ways", "areas")
	checkProgress(t, report(small, small), "versions", "nodes", "ways", "areas")
}

// checkProgress checks that all stages come, each from nothing to its end.
func checkProgress(t *testing.T, reports []progressReport, want ...string) {
	t.Helper()
	var stages []string
	var last progressReport
	for _, r := range append(reports, progressReport{}) {
		if len(stages) == 0 || r.stage != last.stage {
			if last.done != last.total {
				t.Errorf("stage %s ended at %d of %d", last.stage, last.done, last.total)
			}
			stages = append(stages, r.stage)
			last = progressReport{stage: r.stage}
		}
		if r.done < last.done || r.done > r.total {
			t.Errorf("stage %s: %d of %d after %d", r.stage, r.done, r.total, last.done)
		}
		last = r
	}
	if diff := cmp.Diff(append(want, ""), stages); diff != "" {
		t.Error(diff)
	}
}

func TestCancel(t *testing.T) {
	large := testkit.Extract(t, testkit.Delaware)
	small := osmtest.WriteFile(t, "sample.osm.pbf", osmtest.Sample(true))
	text := osmtest.Crossing().File(t)
	for _, path := range []string{large, small, text} {
		if path == large && testkit.Little() {
			continue
		}
		for _, stage := range []string{"versions", "nodes", "ways", "areas"} {
			ctx, cancel := context.WithCancel(t.Context())
			bar := pipeline.NewBar(func(at string, _, _ int64) {
				if at == stage {
					cancel()
				}
			})
			paths := []string{path}
			if stage == "versions" {
				paths = append(paths, path)
			}
			if _, err := osm.Read(ctx, osmtest.Dir(t), paths, bar, new(osmtest.Recorder)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s cancelled in %s: %v", path, stage, err)
			}
			cancel()
		}
	}
}
