package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// tagsOf reads "key=value key=value"; a plus is a space.
func tagsOf(text string) osm.Tags {
	var tags osm.Tags
	for field := range strings.FieldsSeq(text) {
		k, v, _ := strings.Cut(field, "=")
		tags = append(tags, osm.Tag{Key: k, Value: strings.ReplaceAll(v, "+", " ")})
	}
	return tags
}

// describe writes a class in one line: what it is, from which zooms on, and its attributes but for the ranks.
func describe(c Class) string {
	text := fmt.Sprintf("%s %s z%d", c.Layer, [...]string{"point", "line", "area"}[c.Geometry], c.MinZoom)
	if c.NameZoom != NoNames {
		text += fmt.Sprintf(" n%d", c.NameZoom)
	}
	for _, a := range c.Attrs {
		if a.Key == "sort_rank" {
			continue
		}
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		if a.MinZoom > c.MinZoom {
			text += fmt.Sprintf("@%d", a.MinZoom)
		}
	}
	return text
}

var classified = map[string]struct {
	kind region.Kind
	tags string
	area bool
	want string // one class after the other, with a semicolon between
}{
	"nothing":             {region.KindWay, "source=survey barrier=fence name=X", true, ""},
	"a building":          {region.KindWay, "building=yes", true, "buildings area z13 kind=building"},
	"a node of one":       {region.KindNode, "building=yes", false, ""},
	"a tall building":     {region.KindWay, "building=yes height=12.4m layer=-1", true, "buildings area z13 height=12 kind=building layer=-1"},
	"levels":              {region.KindWay, "building=yes building:levels=4", true, "buildings area z13 height=14 kind=building"},
	"absurd heights":      {region.KindWay, "building=yes height=1e9 min_height=NaN layer=x", true, "buildings area z13 kind=building"},
	"a school's building": {region.KindWay, "building=school amenity=school name=X", true, "buildings area z13 kind=building; pois point z14 n14 kind=school min_zoom=16"},
	"a motorway":          {region.KindWay, "highway=motorway oneway=yes ref=I+95;DE+1 bridge=viaduct", false, "roads line z3 n11 is_bridge=true@12 kind=highway kind_detail=motorway min_zoom=4 network=US:I@7 oneway=yes@14 ref=I 95;DE 1@7 shield_text=95@7 shield_text_length=2@7"},
	"a slip road":         {region.KindWay, "highway=primary_link tunnel=yes bridge=no", false, "roads line z9 n13 is_link=true is_tunnel=true@12 kind=major_road kind_detail=primary_link min_zoom=10"},
	"a numbered road":     {region.KindWay, "highway=trunk ref=US+13+Business", false, "roads line z6 n11 kind=major_road kind_detail=trunk min_zoom=7 network=US@8 ref=US 13 Business@8 shield_text=13Business@8 shield_text_length=10@8"},
	"fields, as once":     {region.KindWay, "landuse=farm", true, "landuse area z2 kind=farmland"},
	"a sidewalk":          {region.KindWay, "highway=footway footway=sidewalk oneway=no", false, "roads line z14 n14 kind=path kind_detail=sidewalk min_zoom=15"},
	"a planned road":      {region.KindWay, "highway=proposed", false, ""},
	"a square":            {region.KindWay, "highway=pedestrian area=yes name=X", true, "landuse area z2 kind=pedestrian"},
	"a railway":           {region.KindWay, "railway=rail", false, "roads line z11 n14 kind=rail min_zoom=12"},
	"a ferry":             {region.KindWay, "route=ferry", false, "roads line z8 n12 kind=ferry min_zoom=9"},
	"a pier":              {region.KindWay, "man_made=pier", false, "roads line z13 n14 kind=pier kind_detail=pier min_zoom=14"},
	"a pond":              {region.KindWay, "natural=water water=pond intermittent=yes", true, "water area z0 intermittent=true kind=water kind_detail=lake"},
	"a lake":              {region.KindRelation, "natural=water water=lake name=X", true, "water area z0 kind=lake kind_detail=lake; water point z3 n3 kind=lake"},
	"a stream":            {region.KindWay, "waterway=stream tunnel=culvert layer=-1", false, "water line z13 n13 kind=water kind_detail=stream layer=-1 tunnel=culvert"},
	"a wide bay":          {region.KindRelation, "natural=bay name=X", true, "water point z3 n3 kind=other"},
	"a reserve":           {region.KindRelation, "boundary=protected_area leisure=nature_reserve name=X", true, "landuse area z2 kind=nature_reserve; pois point z13 n13 kind=nature_reserve min_zoom=14"},
	"a bench":             {region.KindNode, "amenity=bench", false, "pois point z14 n14 kind=bench min_zoom=17"},
	"a cafe":              {region.KindNode, "amenity=cafe name=X cuisine=cake", false, "pois point z14 n14 cuisine=cake kind=cafe min_zoom=16"},
	"not listed":          {region.KindNode, "amenity=restaurant name=X", false, ""},
	"an airport":          {region.KindNode, "aeroway=aerodrome iata=WIL name=X", false, "pois point z11 n11 iata=WIL kind=aerodrome min_zoom=12"},
	"a bus stop":          {region.KindNode, "highway=bus_stop", false, "pois point z14 n14 kind=bus_stop min_zoom=18"},
	"a capital":           {region.KindNode, "place=town capital=4 population=39,403 name=Dover", false, "places point z6 n6 capital=4 kind=locality kind_detail=town min_zoom=7 population=39403 population_rank=7"},
	"a city":              {region.KindNode, "place=city population=1500000 name=X", false, "places point z4 n4 kind=locality kind_detail=city min_zoom=5 population=1500000 population_rank=12"},
	"not counted":         {region.KindNode, "place=village population=many name=X", false, "places point z11 n11 kind=locality kind_detail=village min_zoom=12 population=2000 population_rank=4"},
	"without name":        {region.KindNode, "place=town", false, ""},
}

func TestClassify(t *testing.T) {
	for name, c := range classified {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, class := range Classify(c.kind, tagsOf(c.tags), c.area) {
				got = append(got, describe(class))
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// each calls f with the classes of every single tag, and of the cases above.
func each(f func(Class)) {
	all := func(kind region.Kind, tags osm.Tags, area bool) {
		for _, c := range Classify(kind, tags, area) {
			f(c)
		}
	}
	for _, c := range classified {
		all(c.kind, tagsOf(c.tags), c.area)
	}
	for key, values := range landuseKinds {
		for value := range values {
			all(region.KindWay, tagsOf(key+"="+value+" name=X"), true)
		}
	}
	for key, values := range map[string][]string{"highway": keys(roadKinds), "railway": keys(railDetails),
		"place": keys(placeKinds), "waterway": keys(waterLines), "water": keys(waterDetails), "amenity": keys(poiKinds),
		"aerialway": keys(aerialways)} {
		for _, value := range values {
			tags := tagsOf(key + "=" + value + " natural=water name=X ref=1 population=5")
			all(region.KindNode, tags, false)
			all(region.KindWay, tags[:1], false)
			all(region.KindWay, tags, true)
		}
	}
	for level := range 12 {
		if c, ok := Boundary(level); ok {
			f(c)
		}
	}
	f(Land())
	f(Ocean())
}

func keys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	return list
}

// TestSchema: all classes have only kinds and attributes of the schema, and can be encoded and decoded.
func TestSchema(t *testing.T) {
	seen := make(map[string]bool)
	each(func(c Class) {
		encoded := c.Encode()
		if seen[encoded] {
			return
		}
		seen[encoded] = true
		got, err := DecodeClass(encoded)
		if diff := cmp.Diff(c, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", describe(c), err, diff)
		}
		fields := Layers()[c.Layer]
		if fields.ID != c.Layer.String() || c.MinZoom < fields.MinZoom || c.MinZoom > fullZoom {
			t.Errorf("%s: not in %v", describe(c), fields)
		}
		last := ""
		for _, a := range c.Attrs {
			if a.Key == "kind" && !slices.Contains(Kinds(c.Layer), a.Value.(string)) {
				t.Errorf("%s: the schema has no such kind", describe(c))
			}
			want := map[string]string{"string": text, "int64": number, "bool": boolean}[fmt.Sprintf("%T", a.Value)]
			if a.Key <= last || fields.Fields[a.Key] != want {
				t.Errorf("%s: attribute %s is a %s", describe(c), a.Key, want)
			}
			last = a.Key
		}
	})
	if len(seen) < 250 {
		t.Errorf("only %d classes were seen", len(seen))
	}
}

// TestDecodeClass: a damaged encoding is an error, and costs nothing.
func TestDecodeClass(t *testing.T) {
	whole := Class{Layer: Roads, Geometry: Line, Attrs: []Attr{{"a", 1.5, 0}, {"b", int64(-7), 3}, {"c", false, 0},
		{"d", "x", 0}}}.Encode()
	for i := range whole {
		if c, err := DecodeClass(whole[:i]); err == nil {
			t.Errorf("the first %d bytes are %+v", i, c)
		}
	}
	for name, encoded := range map[string]string{
		"more":        whole + "x",
		"a layer":     "\x08\x00\x00\x00\x00",
		"a geometry":  "\x00\x03\x00\x00\x00",
		"many":        "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"no end":      "\x00\x00\x00\x00" + strings.Repeat("\xff", 30),
		"a bad value": "\x00\x00\x00\x00\x01\x00\x00\x09",
	} {
		if c, err := DecodeClass(encoded); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestKeys: Keys and Details are those that are read as such.
func TestKeys(t *testing.T) {
	var v values
	for _, keys := range []struct {
		names  []string
		value  func(key string) *string
		fields int
	}{
		{Keys[:], v.main, reflect.TypeFor[mainValues]().NumField()},
		{Details[:], v.detail, reflect.TypeFor[detailValues]().NumField()},
	} {
		for _, key := range keys.names {
			if *keys.value(key) != "" {
				t.Errorf("%s is there twice, or has the value of another key", key)
			}
			*keys.value(key) = key
		}
		if len(keys.names) != keys.fields {
			t.Errorf("%d keys of %d", len(keys.names), keys.fields)
		}
	}
}

func TestUpTo(t *testing.T) {
	for zoom, want := range map[uint8]int{2: 4, 12: 7, 13: 8, 16: 8} {
		layers := UpTo(zoom, Layers())
		if len(layers) != want || layers[0].MaxZoom != zoom {
			t.Errorf("zoom %d: %+v", zoom, layers)
		}
	}
}
