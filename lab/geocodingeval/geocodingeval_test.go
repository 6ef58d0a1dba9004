package geocodingeval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/lab/dataset"
)

func TestRunInSmall(t *testing.T) {
	testkit.Whole(t)
	var out bytes.Buffer
	err := Run(t.Context(), &out, Options{Points: 40, Parts: 2, Seed: 1})
	if missed, ok := errors.AsType[Missed](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		t.Log(missed) // the time of few requests is that of the machine's caches
	}
	for _, l := range strings.Split(out.String(), "\n") {
		if strings.Contains(l, "| all |") && strings.Contains(l, "✗") {
			t.Error(l)
		}
	}
	for _, want := range []string{"Delaware", "Andorra", "category school within 100 km, p99",
		"equal to a search over all geometry | 40 of 40", "cities"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestLookups(t *testing.T) {
	testkit.Whole(t)
	delaware, err := dataset.Delaware(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "delaware.region")
	if _, err := compiler.Build(t.Context(), compiler.Options{Inputs: []string{delaware}, Output: path}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Lookups(t.Context(), &out, path, 1)
	if _, missed := errors.AsType[Missed](err); err != nil && !missed { // the time of a disturbed machine
		t.Fatal(err)
	}
	var read int
	_, after, _ := strings.Cut(out.String(), "read from the file, kB | ")
	if _, err := fmt.Sscan(after, &read); err != nil || read < 2000 || read > 7000 {
		t.Errorf("%d kB were read: %v, in\n%s", read, err, &out)
	}
	if err := Lookups(t.Context(), &out, path+"x", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestMissedBarsAreMarked(t *testing.T) {
	var out bytes.Buffer
	tab := table{out: &out}
	tab.row(atMost("a", 2*time.Second, time.Second, true))
	tab.row(atMost("b", 2*time.Second, time.Second, false))
	tab.row(allOf("c", 1, 2))
	tab.row(noMore("d", 11, 10))
	if len(tab.missed) != 3 || strings.Count(out.String(), "✗") != 3 {
		t.Errorf("missed are %q:\n%s", tab.missed, &out)
	}
}
