//go:build unix

package matching_test

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A region file is damaged in ways that it must not be while requests read it, MAPS_TEST_FLIPS times: bits are flipped,
// it is cut short, and another one is copied over it, all in place. Every answer is that of one of the whole files, or
// a 503.
func TestOverwrittenUnderLoad(t *testing.T) {
	rounds := 60
	if text := os.Getenv("MAPS_TEST_FLIPS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	live := filepath.Join(dir, "live.region")
	towns := []string{"Testville", "Newtown"}
	var contents [2][]byte
	for i, town := range towns {
		path := filepath.Join(dir, town)
		modulestest.BuildRegion(t, path, modulestest.Renamed(town))
		var err error
		contents[i], err = os.ReadFile(path)
		must(err)
	}
	must(os.WriteFile(live, contents[0], 0o600))
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region live " + live,
		Site: "handle /v2/* {\nmaps_reverse_geocode {\npublic\ngeocoder local live\n}\n}\nhandle /healthz {\nmaps_health\n}\n" +
			"handle {\nmaps_match {\npublic\nmatcher local live\n}\n}",
		Level: "WARN", NoAccessLog: true,
	})
	ask := func(path string) string {
		t.Helper()
		a := s.Do(http.MethodGet, path, "", "")
		return strconv.Itoa(a.Status) + " " + a.Body
	}
	write := func(content []byte, at int64) { // in place: the file stays the same one
		t.Helper()
		file, err := os.OpenFile(live, os.O_WRONLY, 0)
		must(err)
		_, err = file.WriteAt(content, at)
		must(err)
		must(file.Close())
	}
	overwrite := func(content []byte) {
		t.Helper()
		must(os.Truncate(live, 0))
		for at := 0; at < len(content); at += 8 << 10 {
			write(content[at:min(at+8<<10, len(content))], int64(at))
		}
	}
	await := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !done() && !t.Failed(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not within 30 s: %s", what)
			}
		}
	}

	paths := []string{
		"/v2/search/reverse-geocoding?lat=39.1601&lon=-75.5201&size=5",
		"/v2/search/reverse-geocoding?lat=39.1601&lon=-75.5201&category=school",
		"/v2/search/reverse-geocoding?lat=39.11&lon=-75.41",
		endpoint + "?details=true&path=" + url.QueryEscape(pairs),
		endpoint + "?details=true&path=" + url.QueryEscape("[{39.16,-75.529},{39.16,-75.511}]"),
	}
	right := make(map[string][]string)
	for i := range contents {
		overwrite(contents[i])
		await("the file that was written in place is served", func() bool { return strings.Contains(ask(paths[0]), towns[i]) })
		for _, path := range paths {
			right[path] = append(right[path], ask(path))
		}
	}

	var stop atomic.Bool
	var served, refused atomic.Int64
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for n := i; !stop.Load(); n++ {
				path := paths[n%len(paths)]
				switch a, err := s.Try(path, ""); {
				case err != nil:
					t.Error(err)
					return
				case a.Status == http.StatusServiceUnavailable && strings.Contains(a.Body, `"error"`):
					refused.Add(1)
				case slices.Contains(right[path], strconv.Itoa(a.Status)+" "+a.Body):
					served.Add(1)
				default:
					t.Errorf("%s is answered %d %s, which is no answer of any whole file", path, a.Status, a.Body)
					return
				}
			}
		})
	}
	more := func(n int64) {
		t.Helper()
		before := served.Load() + refused.Load()
		await("answers", func() bool { return served.Load()+refused.Load() >= before+n })
	}
	// whole makes the file a whole one again, and waits until it is served.
	whole := func(content []byte) {
		t.Helper()
		overwrite(content)
		before := served.Load()
		await("the whole file is served", func() bool { return served.Load() >= before+8 })
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for i := 0; i < rounds && !t.Failed(); i++ {
		content := contents[i%2]
		switch i % 10 {
		case 7:
			must(os.Truncate(live, int64(rng.IntN(len(content)))))
			more(8)
			await("the region counts as damaged", func() bool {
				a := ask("/healthz")
				return strings.HasPrefix(a, "503 ") && strings.Contains(a, `"status":"damaged"`)
			})
			whole(content)
		case 3:
			whole(contents[(i+1)%2])
			whole(content)
		default:
			at := rng.IntN(len(content))
			now, err := os.ReadFile(live)
			must(err)
			write([]byte{now[at] ^ 1<<rng.IntN(8)}, int64(at))
			more(8)
			if i%2 == 0 { // else the file has several flips at once
				whole(content)
			}
		}
	}
	whole(contents[0])
	stop.Store(true)
	clients.Wait()
	if a := ask("/healthz"); !strings.HasPrefix(a, "200 ") {
		t.Errorf("health: %s", a)
	}
	t.Logf("%d answers were right, %d were 503", served.Load(), refused.Load())
	if served.Load() < 100 || refused.Load() == 0 {
		t.Error("nothing was damaged, or nothing served")
	}
}
