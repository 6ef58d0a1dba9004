package drives

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
)

func write(t *testing.T, text string, zipped bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !zipped {
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		return path
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadDrives(t *testing.T) {
	got, err := ReadDrives(write(t, `[{"sigma":4,"interval":15,"trace":[[41.1,-8.6],[41.2,-8.5]],"truth":[[41.1,-8.61],[41.2,-8.51]],"length":1200}]`, true))
	want := []Drive{{Cell: Cell{4, 15}, Trace: orb.LineString{{-8.6, 41.1}, {-8.5, 41.2}},
		Truth: orb.LineString{{-8.61, 41.1}, {-8.51, 41.2}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, difference\n%s", err, diff)
	}
}

func TestReadTrips(t *testing.T) {
	got, err := ReadTrips(write(t, `[[[-8.6,41.1],[-8.5,41.2]],[[-8.7,41.3],[-8.6,41.4],[-8.5,41.5]]]`, false))
	want := []orb.LineString{{{-8.6, 41.1}, {-8.5, 41.2}}, {{-8.7, 41.3}, {-8.6, 41.4}, {-8.5, 41.5}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, difference\n%s", err, diff)
	}
}

func TestReadingBadInput(t *testing.T) {
	drives := func(path string) error { _, err := ReadDrives(path); return err }
	trips := func(path string) error { _, err := ReadTrips(path); return err }
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"no file", drives(filepath.Join(t.TempDir(), "none")), "none"},
		{"not zipped", drives(write(t, `[{"sigma":4,"interval":15}]`, false)), "gzip"},
		{"not JSON", drives(write(t, `[{`, true)), "unexpected EOF"},
		{"one position", drives(write(t, `[{"trace":[[1,2]],"truth":[[1,2],[3,4]]}]`, true)), "drive 0 has 1 positions"},
		{"trips: no file", trips(filepath.Join(t.TempDir(), "none")), "none"},
		{"trips: not JSON", trips(write(t, `{}`, false)), "cannot unmarshal"},
		{"trips: one position", trips(write(t, `[[[1,2],[3,4]],[[1,2]]]`, false)), "trip 1 has 1 positions"},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: the error is %v, want one with %q", tt.name, tt.err, tt.want)
		}
	}
}
