package tiles

import (
	"testing"
)

func TestParse(t *testing.T) {
	tile := func(kind, z uint8, x, y uint32) address { return address{"de", tileOf, kind, z, x, y} }
	for path, want := range map[string]address{
		"/de.json":                    {region: "de", what: descriptionOf},
		"/de/style.json":              {region: "de", what: styleOf},
		"/de/network/car.json":        {region: "de", what: descriptionOf, kind: 1},
		"/de/network/foot.json":       {region: "de", what: descriptionOf, kind: 3},
		"/de/0/0/0.mvt":               tile(0, 0, 0, 0),
		"/de/14/4743/6236.mvt":        tile(0, 14, 4743, 6236),
		"/de/99/4743/4294967295.mvt":  tile(0, 17, 4743, 4294967295),
		"/de/network/foot/14/1/2.mvt": tile(3, 14, 1, 2),
	} {
		if got, ok := parse(path); got != want || !ok {
			t.Errorf("%s: %+v, %v", path, got, ok)
		}
	}
	for _, path := range []string{"", "/", "/de", "/.json", "//style.json", "/de/", "/de/x.json", "/de/style.json/",
		"/de/14/4743/6236", "/de/14/4743/6236.pbf", "/de/14/4743.mvt", "/de/14/4743/6236.mvt/", "/de/14/4743/6236/1.mvt",
		"/de/014/4743/6236.mvt", "/de/+1/0/0.mvt", "/de/1/-0/0.mvt", "/de/1/0/1e1.mvt", "/de/1/0/00.mvt", "/de/1/0/0x0.mvt",
		"/de/1/0/1_0.mvt", "/de/1/0/ 0.mvt", "/de/1/0/.mvt", "/de/1/0/4294967296.mvt", "/de/1//0.mvt", "/de/1/0/0.MVT",
		"/de/network", "/de/network/", "/de/network/car", "/de/network/car/", "/de/network/car/style.json",
		"/de/network/boat.json", "/de/network/boat/14/1/2.mvt", "/de/network/car/14/1/02.mvt", "/de/network/.json"} {
		if got, ok := parse(path); ok {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestExists(t *testing.T) {
	for _, test := range []struct {
		a    address
		want bool
	}{
		{address{z: 0}, true},
		{address{z: 0, x: 1}, false},
		{address{z: 14, x: 16383, y: 16383}, true},
		{address{z: 14, x: 16384}, false},
		{address{z: 14, y: 16384}, false},
		{address{z: 15}, false},
		{address{z: 17, x: 1 << 31}, false},
		{address{z: 11, kind: kindNetwork}, false},
		{address{z: 12, kind: kindNetwork}, true},
	} {
		if got := test.a.exists(14); got != test.want {
			t.Errorf("%+v: %v", test.a, got)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  bool
	}{
		{nil, false},
		{[]string{`"a"`}, true},
		{[]string{`"b", "a"`}, true},
		{[]string{`"b"`, `W/"a"`}, true},
		{[]string{`*`}, true},
		{[]string{`a`}, false},
		{[]string{`"a.gz"`}, false},
	} {
		if got := matches(test.lines, `"a"`); got != test.want {
			t.Errorf("%q: %v", test.lines, got)
		}
	}
}
