package tiles_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// serveDelaware runs a server with tiles of Delaware behind maps_auth, and returns the region's path.
func serveDelaware(b *testing.B) (s *modulestest.Server, cfg modulestest.Config, token, path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(),
		compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)}, Output: path}); err != nil {
		b.Fatal(err)
	}
	cfg = modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /tiles/* {
				maps_auth TILE
				maps_tiles delaware
			}
			handle /api/v1/external/* {
				maps_tokens
			}
			handle /api/v1/service-accounts* {
				maps_accounts
			}`,
	}
	s = modulestest.Start(b, cfg)
	_, token = s.Token("acme", "TILE")
	return s, cfg, token, path
}

// dial connects a client that requests paths in turn.
func dial(b *testing.B, address, token string, paths ...string) *modulestest.Client {
	c := modulestest.DialTo(b, address)
	for _, path := range paths {
		c.Add(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer %s\r\n\r\n", path, token))
	}
	return c
}

// view is the tiles that are in sight when someone looks at Dover.
func view(prefix string) (paths []string) {
	at := maptile.At(orb.Point{-75.5244, 39.1582}, 14)
	for x := at.X - 2; x <= at.X+2; x++ {
		for y := at.Y - 1; y <= at.Y+2; y++ {
			paths = append(paths, fmt.Sprintf("%s/delaware/%d/%d/%d.mvt", prefix, at.Z, x, y))
		}
	}
	return paths
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkBesideRespond measures what a cached tile costs beside the web server: requests per second of `respond` with
// a body of the same size, over those of tiles behind maps_auth, over loopback HTTP with keep-alive on one core. Both
// are sent the same headers. It alternates short rounds and reports the median.
func BenchmarkBesideRespond(b *testing.B) {
	s, cfg, token, _ := serveDelaware(b)
	path := view("/tiles")[len(view(""))/2]
	body := s.Do(http.MethodGet, path, token, "", "Accept-Encoding", "gzip").Body
	cfg.Site += "\nhandle /plain/* {\nrespond \"" + strings.Repeat("x", len(body)) + "\"\n}"
	if err := s.Load(cfg); err != nil {
		b.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	address := strings.TrimPrefix(s.URL, "http://")
	plain, ours := dial(b, address, token, strings.Replace(path, "/tiles", "/plain", 1)), dial(b, address, token, path)
	const round = 1000
	plain.Run(round)
	ours.Run(round)
	var ratios []float64
	for b.Loop() {
		p, o := plain.Run(round), ours.Run(round)
		ratios = append(ratios, p.Seconds()/o.Seconds())
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(float64(len(body)), "body-bytes")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBesidePMTiles compares with `pmtiles serve` of the same tiles, which MAPS_PMTILES names: requests per second
// of both on all cores, with 8 connections that ask for the tiles of a view in turn.
func BenchmarkBesidePMTiles(b *testing.B) {
	program := os.Getenv("MAPS_PMTILES")
	if program == "" {
		b.Skip("left out: MAPS_PMTILES does not name the program, which `make build/bin/pmtiles` builds")
	}
	s, _, token, path := serveDelaware(b)
	other := servePMTiles(b, program, path)
	var ours, theirs []*modulestest.Client
	for range 8 {
		ours = append(ours, dial(b, strings.TrimPrefix(s.URL, "http://"), token, view("/tiles")...))
		theirs = append(theirs, dial(b, other, token, view("")...))
	}
	const round = 2000
	rate := func(clients []*modulestest.Client) float64 {
		start := time.Now()
		var group sync.WaitGroup
		for _, c := range clients {
			group.Go(func() { c.Run(round / len(clients)) })
		}
		group.Wait()
		return round / time.Since(start).Seconds()
	}
	rate(ours)
	rate(theirs)
	var ratios, rates []float64
	for b.Loop() {
		o := rate(ours)
		ratios, rates = append(ratios, o/rate(theirs)), append(rates, o)
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(rates), "req/s")
	b.ReportMetric(0, "ns/op")
}

// servePMTiles runs `pmtiles serve` on the archive of a region, and returns its address.
func servePMTiles(b *testing.B, program, path string) (address string) {
	b.Helper()
	dir := b.TempDir()
	file, err := region.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Release()
	if _, err := pmtiles.Export(b.Context(), file,
		pmtiles.ExportOptions{Output: filepath.Join(dir, "delaware.pmtiles"), MaxZoom: 14}); err != nil {
		b.Fatal(err)
	}
	address, release, err := testkit.ReservePort()
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.CommandContext(b.Context(), program, "serve", dir, "--interface=127.0.0.1", "--port="+port)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return address
		}
		if time.Now().After(deadline) {
			b.Fatal(err)
		}
	}
}
