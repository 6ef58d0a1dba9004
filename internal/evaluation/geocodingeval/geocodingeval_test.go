package geocodingeval

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestRunInSmall(t *testing.T) {
	var out bytes.Buffer
	err := Run(t.Context(), &out, Options{Points: 40, Parts: 2, Seed: 1})
	if missed, ok := err.(Missed); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		t.Log(missed) // the time of few requests is that of the machine's caches
	}
	for _, l := range strings.Split(out.String(), "\n") {
		if strings.Contains(l, "| all |") && strings.Contains(l, "✗") {
			t.Error(l)
		}
	}
	for _, want := range []string{"Delaware", "Andorra", "category school within 100 km, p99", "equal to a search over all geometry | 40 of 40", "cities"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestMissedBarsAreMarked(t *testing.T) {
	var out bytes.Buffer
	tab := table{out: &out}
	tab.row(atMost("a", 2*time.Second, time.Second, true))
	tab.row(atMost("b", 2*time.Second, time.Second, false))
	tab.row(allOf("c", 1, 2))
	tab.row(noMore("d", 11, 10))
	if tab.missed != 3 || strings.Count(out.String(), "✗") != 3 {
		t.Errorf("%d missed:\n%s", tab.missed, &out)
	}
}
