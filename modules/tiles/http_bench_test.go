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
	orbtile "github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// serveDelaware runs a server with tiles of Delaware behind maps_auth, and `respond` with a body of some length.
func serveDelaware(b *testing.B, length func(file *region.File) int) (s *modulestest.Server, token, path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(),
		compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)}, Output: path}); err != nil {
		b.Fatal(err)
	}
	file, err := region.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Release()
	s = modulestest.Start(b, modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /plain/* {
				respond "` + strings.Repeat("x", length(file)) + `"
			}
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
	})
	_, token = s.Token("acme", "TILE")
	return s, token, path
}

// request is what is sent for a tile, or for what has its size.
func request(path, token string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nAuthorization: Bearer %s\r\n\r\n",
		path, token)
}

// dover are the tiles that are in sight when somebody looks at Dover.
func dover() (paths []string) {
	at := orbtile.At(orb.Point{-75.5244, 39.1582}, 14)
	for x := at.X - 2; x <= at.X+2; x++ {
		for y := at.Y - 1; y <= at.Y+2; y++ {
			paths = append(paths, fmt.Sprintf("%d/%d/%d.mvt", at.Z, x, y))
		}
	}
	return paths
}

// BenchmarkBesideRespond measures what a cached tile costs beside the web server: requests per second of `respond` with
// a body of the same size, over those of tiles behind maps_auth, over loopback HTTP with keep-alive on one core. Both
// are sent the same headers. It alternates short rounds and reports the median.
func BenchmarkBesideRespond(b *testing.B) {
	path := dover()[len(dover())/2]
	s, token, _ := serveDelaware(b, func(file *region.File) int { return len(tileOf(b, file, path)) })
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	address := strings.TrimPrefix(s.URL, "http://")
	plain, ours := modulestest.DialTo(b, address), modulestest.DialTo(b, address)
	plain.Add(request("/plain/delaware/"+path, token))
	ours.Add(request("/tiles/delaware/"+path, token))
	for _, c := range []*modulestest.Client{plain, ours} {
		c.Run(1000)
	}
	const round = 1000
	var ratios []float64
	for b.Loop() {
		p, o := plain.Run(round), ours.Run(round)
		ratios = append(ratios, p.Seconds()/o.Seconds())
	}
	b.ReportMetric(median(ratios), "ratio")
	sent := s.Do(http.MethodGet, "/tiles/delaware/"+path, token, "", "Accept-Encoding", "gzip").Body
	b.ReportMetric(float64(len(sent)), "body-bytes")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkBesidePMTiles compares with `pmtiles serve` of the same tiles, which MAPS_PMTILES names: requests per second
// of both on all cores, with 8 connections that ask for the tiles of a view in turn.
func BenchmarkBesidePMTiles(b *testing.B) {
	program := os.Getenv("MAPS_PMTILES")
	if program == "" {
		b.Skip("left out: MAPS_PMTILES does not name the program, which `make build/bin/pmtiles` builds")
	}
	s, token, path := serveDelaware(b, func(*region.File) int { return 1 })
	var ours, theirs []*modulestest.Client
	other := servePMTiles(b, program, path)
	for range 8 {
		o, t := modulestest.DialTo(b, strings.TrimPrefix(s.URL, "http://")), modulestest.DialTo(b, other)
		for _, path := range dover() {
			o.Add(request("/tiles/delaware/"+path, token))
			t.Add(request("/delaware/"+path, token))
		}
		ours, theirs = append(ours, o), append(theirs, t)
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

// tileOf is a tile as it is sent.
func tileOf(b *testing.B, file *region.File, path string) []byte {
	b.Helper()
	m, err := tiles.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	var z uint8
	var x, y uint32
	if _, err := fmt.Sscanf(path, "%d/%d/%d.mvt", &z, &x, &y); err != nil {
		b.Fatal(err)
	}
	data, err := m.Tile(nil, z, x, y)
	if err != nil || len(data) == 0 {
		b.Fatalf("%d bytes, %v", len(data), err)
	}
	return data
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
