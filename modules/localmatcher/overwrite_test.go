//go:build unix

package localmatcher_test

import (
	"fmt"
	"io"
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

// overwriteRounds is how often the file is changed in place: MAPS_TEST_FLIPS times, and a few times in an ordinary run.
func overwriteRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MAPS_TEST_FLIPS")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MAPS_TEST_FLIPS: %q is no number of changes", text)
	}
	return n
}

// What nobody should do to a region file is done to one while requests read it: bits are flipped in it, it is cut short, and another or
// an older one is copied over it, all in place. Every answer is that of one of the whole files, or a 503.
func TestOverwrittenUnderLoad(t *testing.T) {
	dir := t.TempDir()
	live := filepath.Join(dir, "live.region")
	var contents [2][]byte
	for i, town := range []string{"Testville", "Newtown"} {
		path := filepath.Join(dir, town)
		modulestest.BuildRegion(t, path, modulestest.Renamed(town))
		var err error
		if contents[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(live, contents[0], 0o600); err != nil {
		t.Fatal(err)
	}
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region live " + live,
		Site: `
			handle /v2/* {
				maps_reverse_geocode {
					public
					geocoder local live
				}
			}
			handle /healthz {
				maps_health
			}
			handle {
				maps_match {
					public
					matcher local live
				}
			}`,
		Level: "WARN", NoAccessLog: true,
	})
	ask := func(path string) string {
		t.Helper()
		resp, err := s.HTTP.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s", resp.StatusCode, body)
	}
	// In place: the file stays the same one.
	write := func(content []byte, at int64) {
		t.Helper()
		file, err := os.OpenFile(live, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(content, at); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	overwrite := func(content []byte) {
		t.Helper()
		if err := os.Truncate(live, 0); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(content); at += 8 << 10 {
			write(content[at:min(at+8<<10, len(content))], int64(at))
		}
	}
	var paths []string
	for _, trace := range []string{"[{39.16,-75.528},{39.16,-75.524},{39.1601,-75.5204},{39.164,-75.52},{39.168,-75.52}]", "[{39.16,-75.529},{39.16,-75.511}]"} {
		paths = append(paths, "/api/route/matching/?details=true&path="+url.QueryEscape(trace))
	}
	for _, place := range []string{"lat=39.1601&lon=-75.5201&size=5", "lat=39.168&lon=-75.5203", "lat=39.1601&lon=-75.515", "lat=39.1601&lon=-75.5201&category=school", "lat=39.11&lon=-75.41"} {
		paths = append(paths, "/v2/search/reverse-geocoding?"+place)
	}
	right := make(map[string][]string)
	for i := range contents {
		overwrite(contents[i])
		for deadline := time.Now().Add(20 * time.Second); ; {
			if a := ask(paths[2]); strings.Contains(a, []string{"Testville", "Newtown"}[i]) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the file that was written in place is not served: %s", ask(paths[2]))
			}
		}
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
				begun := time.Now()
				resp, err := s.HTTP.Get(s.URL + path)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if took := time.Since(begun); took > 20*time.Second {
					t.Errorf("%s took %v", path, took)
				}
				switch answer := fmt.Sprintf("%d %s", resp.StatusCode, body); {
				case err != nil:
					t.Error(err)
				case resp.StatusCode == http.StatusServiceUnavailable && strings.Contains(answer, `"error"`):
					refused.Add(1)
				case slices.Contains(right[path], answer):
					served.Add(1)
				default:
					t.Errorf("%s is answered %s, which is no answer of any whole file", path, answer)
					return
				}
			}
		})
	}
	await := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !done() && !t.Failed(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not within 30 s: %s", what)
			}
		}
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
	for i := range overwriteRounds(t) {
		content := contents[i%2]
		switch {
		case i%10 == 7:
			if err := os.Truncate(live, int64(rng.IntN(len(content)))); err != nil {
				t.Fatal(err)
			}
			more(8)
			await("the region counts as damaged", func() bool {
				a := ask("/healthz")
				return strings.HasPrefix(a, "503 ") && strings.Contains(a, `"status":"damaged"`)
			})
			whole(content)
		case i%10 == 3:
			whole(contents[(i+1)%2])
			whole(content)
		default:
			at := rng.IntN(len(content))
			now, err := os.ReadFile(live)
			if err != nil {
				t.Fatal(err)
			}
			write([]byte{now[at] ^ 1<<rng.IntN(8)}, int64(at))
			more(8)
			if i%2 == 0 { // else several stand at once
				whole(content)
			}
		}
		if t.Failed() {
			break
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
		t.Error("that was no test")
	}
}
