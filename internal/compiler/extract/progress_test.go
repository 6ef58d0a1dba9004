package extract

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract/extracttest"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/testkit/testextract"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"
)

func TestProgress(t *testing.T) {
	if _, err := readDelaware(); err != nil {
		t.Fatal(err)
	}
	checkProgress(t, delawareProgress)
	if len(delawareProgress) < 8 {
		t.Errorf("only %d reports", len(delawareProgress))
	}
	var small []progressReport
	path := writeFile(t, "map.osm", []byte(crossing().xml()))
	bar := progress.New(func(stage string, done, total int64) {
		small = append(small, progressReport{stage, done, total})
	})
	if _, err := Read(t.Context(), openScratch(t), []string{path}, Options{Progress: bar}); err != nil {
		t.Fatal(err)
	}
	checkProgress(t, small)
}

// checkProgress checks that all stages come, each from nothing to its end.
func checkProgress(t *testing.T, reports []progressReport) {
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
	if diff := cmp.Diff([]string{"nodes", "ways", "features", "roads", ""}, stages); diff != "" {
		t.Error(diff)
	}
}

func TestCancel(t *testing.T) {
	large, small := testextract.Path(t, testextract.Delaware), writeFile(t, "sample.osm.pbf", extracttest.Sample(true))
	text := writeFile(t, "map.osm", []byte(crossing().xml()))
	for _, test := range []struct{ stage, path string }{
		{"nodes", large}, {"ways", large}, {"features", large}, {"roads", large}, {"nodes", small}, {"ways", small},
		{"features", small}, {"roads", small}, {"nodes", text}, {"ways", text},
	} {
		if test.path == large && testsize.Little() {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		bar := progress.New(func(stage string, _, _ int64) {
			if stage == test.stage {
				cancel()
			}
		})
		_, err := Read(ctx, openScratch(t), []string{test.path}, Options{Progress: bar})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled in %s: %v", test.path, test.stage, err)
		}
		cancel()
	}
}
