package geocoding

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/paulmach/orb"
)

// TestFeatures asks beside a single object what it is.
func TestFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		tags       string
		area       bool
		categories []string
		want       string // category/type name; "" for no feature
	}{
		"named node":                  {tags: "amenity=cafe, name=Bean", want: "amenity/cafe Bean"},
		"no name":                     {tags: "amenity=cafe", want: ""},
		"name alone":                  {tags: "name=Bean", want: ""},
		"bare address":                {tags: "addr:housenumber=12, addr:street=Main Street", want: "place/house 12 Main Street"},
		"address without a street":    {tags: "addr:housenumber=12", want: "place/house 12"},
		"address by place":            {tags: "addr:housenumber=12, addr:place=Moor", want: "place/house 12 Moor"},
		"building with an address":    {tags: "addr:housenumber=12, addr:street=Main Street, building=garage", area: true, want: "building/garage 12 Main Street"},
		"building without":            {tags: "building=yes", area: true, want: ""},
		"named building":              {tags: "building=church, name=St. Mark", area: true, want: "building/church St. Mark"},
		"shop with an address":        {tags: "addr:housenumber=12, addr:street=Main Street, shop=bakery", want: "shop/bakery 12 Main Street"},
		"name before address":         {tags: "addr:housenumber=12, addr:street=Main Street, shop=bakery, name=Bun", want: "shop/bakery Bun"},
		"named, other key, address":   {tags: "addr:housenumber=1, addr:street=Main Street, healthcare=clinic, name=Heal", want: "place/house Heal"},
		"first key":                   {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true, want: "tourism/museum Keep"},
		"key asked for":               {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true, categories: []string{"building"}, want: "building/yes Keep"},
		"value asked for":             {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true, categories: []string{"castle"}, want: "historic/castle Keep"},
		"first of several asked for":  {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true, categories: []string{"yes", "castle"}, want: "historic/castle Keep"},
		"every value":                 {tags: "amenity=bar; restaurant, name=Both", categories: []string{"restaurant"}, want: "amenity/restaurant Both"},
		"every value, none asked for": {tags: "amenity=bar;restaurant, name=Both", want: "amenity/bar Both"},
		"case and space":              {tags: "amenity=Fast_Food, name=Quick", categories: []string{"  fast_FOOD "}, want: "amenity/Fast_Food Quick"},
		"key in capitals":             {tags: "amenity=cafe, name=Bean", categories: []string{"AMENITY"}, want: "amenity/cafe Bean"},
		"part of a value":             {tags: "amenity=fast_food, name=Quick", categories: []string{"fast"}, want: ""},
		"a term that nothing matches": {tags: "amenity=cafe, name=Bean", categories: []string{"nothing"}, want: ""},
		"alternatives":                {tags: "amenity=cafe, name=Bean", categories: []string{"nothing", "cafe"}, want: "amenity/cafe Bean"},
		"blank terms":                 {tags: "amenity=cafe, name=Bean", categories: []string{"", " "}, want: "amenity/cafe Bean"},
		"place node":                  {tags: "place=hamlet, name=Elm", want: "place/hamlet Elm"},
		"place area":                  {tags: "place=hamlet, name=Elm, leisure=park", area: true, categories: []string{"hamlet"}, want: "place/hamlet Elm"},
		"boundary area asked for":     {tags: "boundary=protected_area, leisure=park, name=Elm", area: true, categories: []string{"boundary"}, want: "boundary/protected_area Elm"},
		"boundary area by other key":  {tags: "boundary=protected_area, leisure=park, name=Elm", area: true, categories: []string{"park"}, want: "leisure/park Elm"},
		"boundary area":               {tags: "boundary=protected_area, leisure=park, name=Elm", area: true, want: ""},
		"boundary line":               {tags: "boundary=fence, name=Line", want: "boundary/fence Line"},
		"river":                       {tags: "waterway=river, name=Run", want: ""},
		"river asked for":             {tags: "waterway=river, name=Run", categories: []string{"river"}, want: "waterway/river Run"},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			if c.area {
				w.area(7, c.tags, square(0, 0, 1))
			} else {
				w.node(7, at(0.1, 0), c.tags)
			}
			got := ""
			for _, p := range ask(t, w.build(t), kansas, 5, c.categories...) {
				got += p.Category + "/" + p.Type + " " + p.Name
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestManyValues: an object is no more things than anything is.
func TestManyValues(t *testing.T) {
	var w world
	var values []string
	for i := range 1000 {
		values = append(values, strconv.Itoa(i))
	}
	w.node(7, at(0.1, 0), "amenity="+strings.Join(values, ";")+", name=Bean")
	x := w.build(t)
	for i, want := range map[int]int{0: 1, maxKinds - 1: 1, maxKinds: 0} {
		if got := ask(t, x, kansas, 5, values[i]); len(got) != want {
			t.Errorf("value %d: %d results, want %d", i, len(got), want)
		}
	}
}

// TestLongNames: long names are kept once, short ones beside each other.
func TestLongNames(t *testing.T) {
	s := newStringTable()
	long := strings.Repeat("x", longName+1)
	if a, b := s.append(long), s.append(long); a != b {
		t.Error("a long name is there twice")
	}
	if a, b := s.append("Bean"), s.append("Bean"); a == b {
		t.Error("a short name is there once")
	}
}

// TestPlaceOfAllFields compares a whole answer.
func TestPlaceOfAllFields(t *testing.T) {
	var w world
	w.node(42, at(0, 1), "addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:state=KS, addr:street=Elm Street, addr:suburb=North, amenity=cafe, name=Bean")
	got := ask(t, w.build(t), kansas, 1)
	want := []Place{{
		ID: "node:42", Name: "Bean", DisplayName: "Bean, North, Salina, KS, United States", Category: "amenity", Type: "cafe",
		Location: orb.Point{-98.5, 38.501}, Distance: 111.2,
		Address: Address{HouseNumber: "5", Street: "Elm Street", Suburb: "North", City: "Salina", State: "KS", Postcode: "67401",
			Country: "United States", CountryCode: "USA"},
	}}
	if diff := cmp.Diff(want, got, approximate); diff != "" {
		t.Error(diff)
	}
}

func TestInterpolatedHouses(t *testing.T) {
	var w world
	w.Interpolations = []extract.Interpolation{{
		Way: 9, Line: line(0, 0, 2, 0, 4, 0), Numbers: []int32{10, extract.NoNumber, 18}, Step: 2,
		Tags: tags("addr:city=Salina, addr:postcode=67401, addr:street=Elm Street"),
	}}
	x := w.build(t)
	// 12, 14 and 16 stand at a quarter, a half and three quarters; the ends are nodes of their own.
	got := ask(t, x, at(2.9, 0.1), 5)
	want := []Place{{
		ID: "way:9", Name: "16 Elm Street", DisplayName: "16 Elm Street, Salina, United States", Category: "place", Type: "house",
		Location: at(3, 0), Distance: 14.12,
		Address: Address{HouseNumber: "16", Street: "Elm Street", City: "Salina", Postcode: "67401", Country: "United States", CountryCode: "USA"},
	}}
	if diff := cmp.Diff(want, got, approximate); diff != "" {
		t.Error(diff)
	}
}

func TestInterpolate(t *testing.T) {
	for name, c := range map[string]struct {
		line    orb.LineString
		numbers []int32
		step    int32
		parity  extract.Parity
		want    map[int32]float64 // thousandths of a degree east
	}{
		"down":        {line(0, 0, 3, 0), []int32{7, 1}, 2, 0, map[int32]float64{5: 1, 3: 2}},
		"three nodes": {line(0, 0, 2, 0, 6, 0), []int32{2, 4, 8}, 1, 0, map[int32]float64{3: 1, 5: 3, 6: 4, 7: 5}},
		"around": {line(0, 0, 1, 0, 0, 0), []int32{1, extract.NoNumber, 5}, 1, 0,
			map[int32]float64{2: 0.5, 3: 1, 4: 0.5}},
		"neighbours":    {line(0, 0, 1, 0), []int32{2, 4}, 2, 0, nil},
		"the same":      {line(0, 0, 1, 0), []int32{2, 2}, 2, 0, nil},
		"uneven":        {line(0, 0, 3, 0), []int32{1, 4}, 2, 0, map[int32]float64{3: 2}},
		"no length":     {line(1, 0, 1, 0), []int32{1, 3}, 1, 0, map[int32]float64{2: 1}},
		"far too many":  {line(0, 0, 1, 0), []int32{1, 90000}, 1, 0, nil},
		"one number":    {line(0, 0, 1, 0), []int32{1, extract.NoNumber}, 1, 0, nil},
		"fewer numbers": {line(0, 0, 1, 0), []int32{1}, 1, 0, nil},
		"from 0":        {line(0, 0, 4, 0), []int32{0, 8}, 2, extract.Even, map[int32]float64{2: 1, 4: 2, 6: 3}},
		"to 0":          {line(0, 0, 4, 0), []int32{4, 0}, 1, 0, map[int32]float64{3: 1, 2: 2, 1: 3}},
		"odd from even": {line(0, 0, 6, 0), []int32{2, 8}, 2, extract.Odd, map[int32]float64{3: 1, 5: 3, 7: 5}},
		"even down":     {line(0, 0, 6, 0), []int32{7, 1}, 2, extract.Even, map[int32]float64{6: 1, 4: 3, 2: 5}},
		"even to odd":   {line(0, 0, 5, 0), []int32{1, 6}, 2, extract.Even, map[int32]float64{2: 1, 4: 3}},
		"no step":       {line(0, 0, 2, 0), []int32{1, 3}, 0, 0, map[int32]float64{2: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[int32]float64{}
			for h := range interpolate(&extract.Interpolation{Line: c.line, Numbers: c.numbers, Step: c.step,
				Parity: c.parity}) {
				got[h.number] = (h.at[0] - kansas[0]) * 1000
			}
			if c.want == nil {
				c.want = map[int32]float64{}
			}
			if diff := cmp.Diff(c.want, got, approximate); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	got := languages(tags("name=x, name:=y, name:de=Deutsch, name:etymology:wikidata=Q1, name:prefix=Dorf, name:sr-Latn=Srpski, name:zh-Hant-TW=繁體, old_name:de=Alt"))
	want := []keyValue{{"de", "Deutsch"}, {"sr-Latn", "Srpski"}, {"zh-Hant-TW", "繁體"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(keyValue{})); diff != "" {
		t.Error(diff)
	}
}
