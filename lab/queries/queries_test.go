package queries

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/lab/dataset"
)

// open reads an extract and locates its objects in a region of it.
func open(t *testing.T, extract string) *Generator {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.region")
	if _, err := compiler.Build(t.Context(), compiler.Options{Inputs: []string{extract}, Output: path, NoMap: true,
		NoRoutes: true}); err != nil {
		t.Fatal(err)
	}
	file, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Release)
	places, err := geocoding.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Read(t.Context(), extract)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Locate(t.Context(), places); err != nil {
		t.Fatal(err)
	}
	return New(x)
}

// TestMake: queries are the same for a seed and others for another, each finds its own object, and none the object of an
// unlike query.
func TestMake(t *testing.T) {
	testkit.Whole(t)
	delaware, err := dataset.Delaware(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := open(t, delaware)
	const n = 60
	var every []Query
	for _, kind := range Kinds() {
		all := g.Make(kind, n, 1)
		if len(all) != n {
			t.Errorf("%s: %d queries", kind, len(all))
			continue
		}
		again, other := g.Make(kind, n, 1), g.Make(kind, n, 2)
		texts := func(all []Query) (texts []string) {
			for i := range all {
				texts = append(texts, all[i].Text)
			}
			return texts
		}
		if diff := cmp.Diff(texts(all), texts(again)); diff != "" {
			t.Error(diff)
		}
		if slices.Equal(texts(all), texts(other)) {
			t.Errorf("%s: another seed makes no other queries", kind)
		}
		every = append(every, all...)
	}
	for i := range every {
		q := &every[i]
		if p := q.target.place(); !q.Found(&p) {
			t.Errorf("%s: %q does not find %s", q.Kind, q.Text, q.Expected())
		}
		if near := q.Kind == KindNear || q.Kind == KindPrefix || q.Kind == KindCrowd; near != (q.Near != nil) {
			t.Errorf("%s has proximity: %t", q.Kind, !near)
		}
		o := every[(i+n/2)%len(every)].target
		if p := o.place(); o.plain != q.target.plain && o.number != q.target.number && q.Found(&p) {
			t.Errorf("%s: %q finds %s %s", q.Kind, q.Text, o.id, o.name)
		}
	}
}

// place is an object as a geocoder may return it.
func (o *object) place() geocoding.Place {
	p := geocoding.Place{ID: o.id, Name: o.name, Location: o.at}
	if o.lines[0][0] != o.at && !o.area {
		p.Location = o.lines[0][0] // the middle of a line may be off it
	}
	if p.Address.HouseNumber = o.number; o.number != "" {
		p.Name = ""
		p.Location = o.lines[0][0]
	}
	return p
}

func TestFoundIsStrict(t *testing.T) {
	house := object{id: "node:1", number: "12a", name: "Main Street", plain: "main st", at: orb.Point{10, 0},
		lines: []orb.LineString{{{10, 0}}}}
	q := Query{target: &house, want: []*object{&house}}
	p := house.place()
	p.Address.HouseNumber = "12 A"
	if p.Location[1] = 0.0004; !q.Found(&p) {
		t.Error("not found 44 m away")
	}
	if p.Location[1] = 0.0005; q.Found(&p) {
		t.Error("found 56 m away")
	}
	p.Location, p.Address.HouseNumber = house.at, "12"
	if q.Found(&p) {
		t.Error("found with another number")
	}
}

// TestMistype: a typo is one edit of one word of at least four letters, never in a number.
func TestMistype(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[A-Z][a-zé]{0,8}( [A-Za-zб-я]{1,9}| [0-9]{1,5}[a-z]?){0,4}`).Draw(t, "text")
		typed, from, to := mistype(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), text)
		if typed == "" {
			if slices.ContainsFunc(strings.Fields(text), func(w string) bool {
				return len([]rune(w)) >= 4 && !strings.ContainsAny(w, "0123456789")
			}) {
				t.Fatal("a word has no typo")
			}
			return
		}
		before, after := strings.Fields(text), strings.Fields(typed)
		different := 0
		for i := range before {
			if before[i] == after[i] {
				continue
			}
			different++
			if len([]rune(before[i])) < 4 || strings.ContainsAny(before[i], "0123456789") || !oneEdit(before[i], after[i]) {
				t.Fatalf("%q became %q", before[i], after[i])
			}
			if words(before[i])[0] != from || words(after[i])[0] != to {
				t.Fatalf("%q became %q, reported are %q and %q", before[i], after[i], from, to)
			}
		}
		if different != 1 || len(before) != len(after) {
			t.Fatalf("%q became %q", text, typed)
		}
	})
}

func TestOneEdit(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"main", "main", true}, {"main", "mian", true}, {"main", "man", true}, {"main", "maain", true}, {"main", "mein", true},
		{"main", "ain", true}, {"main", "mains", true}, {"main", "amin", true}, {"main", "mani", true}, {"улица", "улцца", true},
		{"main", "mnia", false}, {"main", "ma", false}, {"main", "mean s", false}, {"main", "nima", false}, {"abcd", "badc", false},
	} {
		if oneEdit(tc.a, tc.b) != tc.want || oneEdit(tc.b, tc.a) != tc.want {
			t.Errorf("%q and %q: not %t", tc.a, tc.b, tc.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string]string{
		"St. Mary's Straße 12-14": "st marys str 12 14", "NORTH Main Street": "n main st", "Landstrasse": "landstr",
		"Praça Ímpar": "praca impar", "Ελλάς": "ελλας",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"Dover": "Dov", "Main Street": "Main Str", "Elm Ct": "", "Route 12345": "",
		"Main": "Mai", "Ely": "", "Улица Ленина": "Улица Лен"} {
		if got := halve(text); got != want {
			t.Errorf("half of %q is %q, want %q", text, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	if got := strings.ReplaceAll(abbreviate(r, "12 North Landstrasse, Dover"), ".", ""); got != "12 N Landstr, Dover" {
		t.Error(got)
	}
}
