package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

var (
	firstData  = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	secondData = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
)

func testApp(t testing.TB, configs map[string]*RegionConfig) *App {
	t.Helper()
	core, logs := observer.New(zapcore.WarnLevel)
	a := &App{Regions: configs, logger: zap.New(core)}
	if err := a.provisionRegions(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.cleanupRegions)
	for _, r := range a.regions.list {
		path := r.Path()
		missing := r.Status().Checksum == ""
		warned := logs.FilterField(zap.String("path",
			path)).FilterMessageSnippet("the server will not start without it").Len()
		if missing && warned != 1 {
			t.Errorf("%d warnings of %s, which is missing", warned, path)
		}
	}
	return a
}

func TestRegionsOfAnApp(t *testing.T) {
	dir := t.TempDir()
	paths := map[string]*RegionConfig{
		"a": {Path: filepath.Join(dir, "a.region")}, "b": {Path: "{env.MAPS_TEST_DIR}/b.region"},
	}
	t.Setenv("MAPS_TEST_DIR", dir)
	first := testApp(t, paths)
	if err := first.openRegions(false); err == nil || !strings.Contains(err.Error(), "region a: ") ||
		!strings.Contains(err.Error(), "caddy maps build") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a missing file: %v", err)
	}
	testregion.Write(t, filepath.Join(dir, "a.region"), firstData, 1, testregion.Dover())
	testregion.Write(t, filepath.Join(dir, "b.region"), firstData, 1, testregion.Newcomer())
	if err := first.openRegions(false); err != nil {
		t.Fatal(err)
	}
	region, err := first.Region("b")
	if err != nil || region.Name() != "b" || !region.Covers(testregion.Newcomer()) || region.Covers(testregion.Dover()) {
		t.Errorf("region b: %v, %v", region, err)
	}
	if _, err := first.Region("c"); err == nil || !strings.Contains(err.Error(), `"c"`) ||
		!strings.Contains(err.Error(), "it is one of a, b") {
		t.Errorf("a region that is not there: %v", err)
	}

	// A second configuration shares what is open, also where the file has become unreadable since, and notices new files.
	before, err := region.Pin()
	if err != nil {
		t.Fatal(err)
	}
	defer before.Release()
	if err := os.Remove(filepath.Join(dir, "b.region")); err != nil {
		t.Fatal(err)
	}
	testregion.Write(t, filepath.Join(dir, "a.region"), secondData, 1, testregion.Dover())
	second := testApp(t, paths)
	if err := second.openRegions(false); err != nil {
		t.Fatal(err)
	}
	first.cleanupRegions()
	first.cleanupRegions()
	shared, err := second.Region("b")
	if err != nil {
		t.Fatal(err)
	}
	after, err := shared.Pin()
	if err != nil || after != before {
		t.Fatalf("the mapping was not kept: %v", err)
	}
	after.Release()
	if _, err := second.ReloadRegions(t.Context()); err == nil || !strings.Contains(err.Error(), "region b: ") ||
		strings.Contains(err.Error(), "region a: ") {
		t.Errorf("reloading with a missing file: %v", err)
	}
	list := second.RegionStatus()
	if len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" || list[0].Status != regions.OK ||
		!list[0].Timestamp.Equal(secondData) || list[1].Status != regions.Stale {
		t.Errorf("status: %+v", list)
	}

	for name, configs := range map[string]map[string]*RegionConfig{
		"no path": {"a": {}}, "null": {"a": nil}, "no name": {"": {Path: "x"}},
		"unknown placeholder": {"a": {Path: "{no.such.thing}"}},
	} {
		broken := &App{Regions: configs, logger: zap.NewNop()}
		if err := broken.provisionRegions(caddy.Context{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		broken.cleanupRegions()
	}
}

// A file of this machine may come later too. Nobody is warned that the server does not start without it, a line says
// how to make it, and requests find it when it is there.
func TestAwaitedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	core, logs := observer.New(zapcore.WarnLevel)
	a := &App{Regions: map[string]*RegionConfig{"x": {Path: path, Awaited: true}}, logger: zap.New(core)}
	if err := a.provisionRegions(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.cleanupRegions)
	if n := logs.Len(); n > 0 {
		t.Errorf("checking: %v", logs.All())
	}
	if err := a.openRegions(false); err != nil {
		t.Fatal(err)
	}
	if n := logs.FilterMessageSnippet("caddy maps build EXTRACT --output " + path).Len(); n != 1 {
		t.Errorf("starting: %v", logs.All())
	}
	if status := a.RegionStatus()[0]; status.Status != regions.Unavailable || !status.Unusable {
		t.Errorf("without a file: %+v", status)
	}
	if _, err := a.ReloadRegions(t.Context()); err == nil {
		t.Error("a reload found it")
	}
	testregion.Write(t, path, firstData, 1, testregion.Dover())
	if _, err := a.ReloadRegions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := a.RegionStatus()[0]; status.Status != regions.OK {
		t.Errorf("with a file: %+v", status)
	}
}
