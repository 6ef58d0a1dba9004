package search_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// openRegion compiles a drawn map into a region and opens its search.
func openRegion(t testing.TB, osm osmtest.Sketch) *search.Index {
	t.Helper()
	return openExtract(t, compiler.Options{Inputs: []string{osm.File(t)}})
}

// openExtract compiles an extract without what searches do not need.
func openExtract(t testing.TB, options compiler.Options) *search.Index {
	t.Helper()
	options.Output = filepath.Join(t.TempDir(), "search.region")
	options.NoMap, options.NoRoutes = true, true
	if _, err := compiler.Build(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(options.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return openIndex(t, f)
}

func openIndex(t testing.TB, f *region.File) *search.Index {
	t.Helper()
	places, err := geocoding.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	x, err := search.Open(f, places)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func ask(t testing.TB, x *search.Index, q *geocoding.Query) []geocoding.Place {
	t.Helper()
	q.Limit = cmp.Or(q.Limit, 5)
	r, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%q: %v", q.Text, err)
	}
	for i := range r.Places {
		p := &r.Places[i]
		s := p.Score
		if sum := s.Text + s.Importance + s.Proximity; math.Abs(sum-s.Total) > 1e-6 || s.Text <= 0 || s.Text > 1.0001 || s.Importance < 0 || s.Proximity < 0 {
			t.Errorf("%q: the score of %s is %+v", q.Text, p.ID, s)
		}
		if i > 0 && s.Total > r.Places[i-1].Score.Total {
			t.Errorf("%q: %s is better than the result before it", q.Text, p.ID)
		}
		if p.Name == "" || p.DisplayName == "" || p.ID == "" || q.Near != nil && s.Proximity == 0 {
			t.Errorf("%q: %+v", q.Text, p)
		}
	}
	return r.Places
}

func ids(places []geocoding.Place) string {
	var all []string
	for i := range places {
		all = append(all, places[i].ID)
	}
	return strings.Join(all, " ")
}

// described says for failures what was found.
func described(places []geocoding.Place) string {
	var b strings.Builder
	for i := range places {
		p := &places[i]
		fmt.Fprintf(&b, "\n\t%s %s (%s=%s) %+v", p.ID, p.DisplayName, p.Category, p.Type, p.Score)
	}
	return b.String()
}

// query is a row of a table: what is asked, and the first ids of the answer. A query that ends with * is half-typed.
type query struct {
	text string
	near *orb.Point
	want string
}

func halfTyped(text string) (string, bool) { return strings.CutSuffix(text, "*") }

func checkQueries(t *testing.T, x *search.Index, rows []query) {
	t.Helper()
	for _, row := range rows {
		text, half := halfTyped(row.text)
		got := ask(t, x, &geocoding.Query{Text: text, Autocomplete: half, Near: row.near})
		if found := ids(got); found != row.want && !strings.HasPrefix(found, row.want+" ") || row.want == "" && found != "" {
			t.Errorf("%q: %q, want %q%s", row.text, found, row.want, described(got))
		}
	}
}

// drawing is a sketch being drawn. Each way has nodes of its own.
type drawing struct {
	strings.Builder
	node int
}

func (d *drawing) way(id int, tags string, at ...float64) {
	var nodes strings.Builder
	for i := 0; i+1 < len(at); i += 2 {
		d.node++
		fmt.Fprintf(d, "n%d %.6f %.6f\n", 100_000+d.node, at[i], at[i+1])
		fmt.Fprintf(&nodes, " %d", 100_000+d.node)
	}
	fmt.Fprintf(d, "w%d%s %s\n", id, nodes.String(), tags)
}

func (d *drawing) nodeAt(id int, lon, lat float64, tags string) {
	fmt.Fprintf(d, "n%d %.6f %.6f %s\n", id, lon, lat, tags)
}

// The places of the drawn map of Delaware.
var (
	dover      = orb.Point{-75.5244, 39.1582}
	wilmington = orb.Point{-75.5466, 39.7459}
	newport    = orb.Point{-75.6097, 39.7137}
	milford    = orb.Point{-75.4280, 38.9126}
)

// state draws Dover (with a school, a pharmacy and houses), Wilmington, Newport and Milford.
func state() osmtest.Sketch {
	var d drawing
	d.nodeAt(1, dover[0], dover[1], "place=city name=Dover population=38000 wikidata=Q1")
	d.nodeAt(2, wilmington[0], wilmington[1], "place=city name=Wilmington population=70000 wikidata=Q2")
	d.nodeAt(3, newport[0], newport[1], "place=town name=Newport population=900")
	d.nodeAt(4, milford[0], milford[1], "place=town name=Milford population=11000")
	d.nodeAt(5, milford[0]+.01, milford[1], "place=suburb name=Milford")
	d.nodeAt(6, dover[0]+.02, dover[1]+.02, "place=hamlet name=Little+Creek")
	d.nodeAt(7, wilmington[0]-.02, wilmington[1], "place=suburb name=Dover+Heights")

	street := func(id int, name string, at orb.Point, east, north float64) {
		d.way(id, "highway=residential name="+name, at[0]+east, at[1]+north, at[0]+east+.008, at[1]+north)
	}
	house := func(id int, number, street, city, postcode string, at orb.Point, east, north float64) {
		d.nodeAt(id, at[0]+east, at[1]+north, fmt.Sprintf("addr:housenumber=%s addr:street=%s addr:city=%s addr:postcode=%s", number, street, city, postcode))
	}
	// Main Street is in every town; that of Dover is of three ways.
	street(10, "Main+Street", dover, 0, 0)
	street(11, "Main+Street", dover, .008, 0)
	street(12, "Main+Street", dover, .016, 0)
	street(20, "Main+Street", wilmington, 0, 0)
	street(30, "Main+Street", newport, 0, .002)
	street(13, "Weaver+Street", dover, 0, .003)
	street(14, "Northwest+Front+Street", dover, 0, .006)
	street(15, "Saint+Paul+Avenue", dover, 0, .009)
	street(16, "Loockerman+Street", dover, 0, -.003)
	street(21, "Loockerman+Street", wilmington, 0, -.003)
	street(22, "Weston+Road", wilmington, 0, .006)
	street(23, "Newport+Road", wilmington, -.01, .006)
	street(31, "Newport+Road", newport, 0, -.004)
	d.way(17, "highway=trunk ref=US+13 name=DuPont+Highway", dover[0]-.01, dover[1]-.02, dover[0]-.01, dover[1]+.02)
	house(100, "34A", "Main+Street", "Dover", "19901", dover, .001, .0003)
	house(101, "36", "Main+Street", "Dover", "19901", dover, .002, .0003)
	house(102, "40", "Main+Street", "Dover", "19901", dover, .004, .0003)
	house(103, "12-14", "Main+Street", "Dover", "19901", dover, .0005, .0003)
	house(104, "12/3", "Weaver+Street", "Dover", "19901", dover, .0005, .0033)
	house(105, "824", "Weaver+Street", "Dover", "19901", dover, .004, .0033)
	house(106, "12a", "Loockerman+Street", "Dover", "19901", dover, .0005, -.0027)
	house(107, "12", "Loockerman+Street", "Dover", "19901", dover, .0008, -.0027)
	house(108, "77", "NW+Front+St", "Dover", "19904", dover, .0008, .0063)
	house(109, "9", "Saint+Paul+Avenue", "Dover", "19904", dover, .0008, .0093)
	house(120, "500", "Main+Street", "Wilmington", "19801", wilmington, .004, .0003)
	house(121, "36", "Main+Street", "Wilmington", "19801", wilmington, .002, .0003)
	house(122, "824", "Weston+Road", "Wilmington", "19802", wilmington, .002, .0063)
	house(130, "3", "Newport+Road", "Newport", "19804", newport, .002, -.0037)
	// A street that has no way, a place whose houses have no street, a house with a name.
	house(140, "5", "Lost+Lane", "Dover", "19901", dover, -.004, .001)
	house(141, "7", "Lost+Lane", "Dover", "19901", dover, -.004, .0015)
	d.nodeAt(142, dover[0]+.021, dover[1]+.021, "addr:housenumber=61 addr:place=Little+Creek")
	d.nodeAt(143, dover[0]+.003, dover[1]+.0093, "addr:housename=Rose+Cottage addr:street=Saint+Paul+Avenue")
	d.nodeAt(144, dover[0]+.004, dover[1]+.0093, "addr:housenumber=11 addr:street=Saint+Paul+Avenue")
	// Interpolated houses: 201 to 209 on Loockerman Street.
	d.nodeAt(150, dover[0]+.002, dover[1]-.0033, "addr:housenumber=201 addr:street=Loockerman+Street")
	d.nodeAt(151, dover[0]+.006, dover[1]-.0033, "addr:housenumber=209 addr:street=Loockerman+Street")
	d.WriteString("w152 150 151 addr:interpolation=odd\n")

	d.nodeAt(200, dover[0]+.002, dover[1]-.001, "amenity=pharmacy name=Walker's+Drugs addr:city=Dover")
	d.nodeAt(201, wilmington[0]+.002, wilmington[1]-.001, "amenity=pharmacy name=Green+Cross")
	d.nodeAt(202, dover[0]+.003, dover[1]-.001, "amenity=school name=Fairview+Elementary+School")
	d.nodeAt(203, dover[0]+.004, dover[1]-.001, "amenity=cafe name=Café+Müller")
	d.nodeAt(204, dover[0]+.005, dover[1]-.001, "tourism=museum name=Biggs+Museum old_name=Sewell+Gallery alt_name=Biggs+Collection;Art+House "+
		"short_name=BMA official_name=Biggs+Museum+of+American+Art loc_name=Biggsy name:de=Kunstmuseum name:ru=Музей+Биггса")
	d.nodeAt(205, dover[0]+.006, dover[1]-.001, "amenity=restaurant shop=deli name=Main+Grill")
	return osmtest.Sketch(d.String())
}

// TestComplaints: what users of Photon complain about works here, and what else a query may look like.
func TestComplaints(t *testing.T) {
	t.Parallel()
	near := func(p orb.Point) *orb.Point { return &p }
	checkQueries(t, openRegion(t, state()), []query{
		// Exact house numbers come first, then other ones, then the street.
		{"36 Main Street Dover", nil, "node:101"},
		{"36 Main Street Wilmington", nil, "node:121"},
		{"36 main st", near(dover), "node:101 node:121"},
		{"36 main st", near(wilmington), "node:121 node:101"},
		{"12 Loockerman Street, Dover", nil, "node:107"},
		{"12a Loockerman Street, Dover", nil, "node:106"},
		{"12 a Loockerman Street, Dover", nil, "node:106"},
		{"Loockerman Street 12 a, Dover", nil, "node:106"},
		{"12/3 Weaver Street", nil, "node:104"},
		{"12-14 Main Street Dover", nil, "node:103"},
		{"14 Main Street Dover", nil, "node:103"},
		{"12 Main Street Dover", nil, "node:103"},
		// A directional never kills a result.
		{"77 NW Front Street Dover", nil, "node:108"},
		{"77 Front Street Dover", nil, "node:108"},
		{"77 Front Street NW Dover", nil, "node:108"},
		{"824 NW Weaver Street", nil, "node:105"},
		{"N Main St Wilmington", nil, "way:20"},
		// A house number never outweighs the city.
		{"500 Main Street Dover", nil, "way:11"},
		{"500 Main Street, Newport", nil, "way:30"},
		// A typing error together with proximity.
		{"Lookerman Street", near(wilmington), "way:21 way:16"},
		{"Lookerman Street", near(dover), "way:16 way:21"},
		{"mian street", near(newport), "way:30"},
		{"Wevaer Street", near(wilmington), "way:13"},
		// A partial address.
		{"824 we*", near(dover), "node:105 node:122"},
		{"824 we*", near(wilmington), "node:122 node:105"},
		{"824 weav*", nil, "node:105"},
		{"main st, wilm*", nil, "way:20"},
		// No blank after the comma.
		{"main street,dover", nil, "way:11"},
		{"36 main street,wilmington", nil, "node:121"},
		// 34 when there is only 34A, and the other way round.
		{"34 Main Street, Dover", nil, "node:100"},
		{"34a Main Street, Dover", nil, "node:100"},
		{"36b Main Street, Dover", nil, "node:101"},
		// One wrong digit in the postcode, and postcodes.
		{"36 Main Street, Dover 19991", nil, "node:101"},
		{"36 Main Street, 19801", nil, "node:121"},
		{"36 Main Street, 19901", nil, "node:101"},
		{"Newport 19804", nil, "node:3"},
		// A place and its district of the same name.
		{"Milford", nil, "node:4"},
		{"milford*", nil, "node:4"},
		{"Milford", near(milford), "node:4"},
		// The number before and after the street.
		{"40 Main Street Dover", nil, "node:102"},
		{"Main Street 40 Dover", nil, "node:102"},
		{"Dover, Main Street 40", nil, "node:102"},
		{"Main Street 40, 19901 Dover", nil, "node:102"},
		{"Main St #40, Dover", nil, "node:102"},
		// A category near a place.
		{"pharmacy dover", nil, "node:200"},
		{"dover pharmacy", nil, "node:200"},
		{"pharmacy in Dover", nil, "node:200"},
		{"pharmacy, wilmington", nil, "node:201"},
		{"pharmacy", near(wilmington), "node:201 node:200"},
		{"Apotheke Dover", nil, "node:200"},
		{"museum dover", nil, "node:204"},
		{"pharmacy dov*", nil, "node:200"},
		{"pharmacy newport", nil, "node:201"}, // Wilmington's is the nearest
		// Abbreviations, accents, case, punctuation, order of the words.
		{"ST PAUL AVE", nil, "way:15"},
		{"st. paul's av.", nil, "way:15"},
		{"avenue paul saint", nil, "way:15"},
		{"cafe muller", nil, "node:203"},
		{"CAFÉ MUELLER", nil, "node:203"},
		{"Walkers Drugs", nil, "node:200"},
		{"walker´s drugs", nil, "node:200"},
		{"fairview elem sch", nil, "node:202"},
		// Other names.
		{"Sewell Gallery", nil, "node:204"},
		{"Biggs Collection", nil, "node:204"},
		{"art house", nil, "node:204"},
		{"BMA", nil, "node:204"},
		{"Biggs Museum of American Art", nil, "node:204"},
		{"biggsy", nil, "node:204"},
		{"Kunstmuseum", nil, "node:204"},
		{"музей биггса", nil, "node:204"},
		// Roads by their numbers.
		{"US 13", nil, "way:17"},
		{"us-13 Dover", nil, "way:17"},
		{"Dupont Hwy", nil, "way:17"},
		// Houses with names, in places, on streets without a way, interpolated.
		{"Rose Cottage", nil, "node:143"},
		{"Rose Cottage, Saint Paul Avenue", nil, "node:143"},
		{"rose cotage, Saint Paul Avenue", nil, "node:143"},
		{"11 Saint Paul Avenue", nil, "node:144"},
		{"61 Little Creek", nil, "node:142"},
		{"Little Creek 61, Dover", nil, "node:142"},
		{"Lost Lane", nil, "node:141"},
		{"lost ln dover", nil, "node:141"},
		{"5 Lost Lane", nil, "node:140"},
		{"7 lost lane, dover", nil, "node:141"},
		{"205 Loockerman Street", nil, "way:152"},
		{"201 Loockerman Street", nil, "node:150"},
		// Repeated words.
		{"Newport Road, Newport", nil, "way:31"},
		{"3 Newport Road, Newport", nil, "node:130"},
		{"Newport Road, Wilmington", nil, "way:23"},
		{"Dover Dover Dover", nil, "node:1"},
		// Places with what they are in.
		{"Dover", nil, "node:1"},
		{"dover, delaware", nil, "node:1"},
		{"Dover DE USA", nil, "node:1"},
		{"do*", nil, "node:1"},
		{"wilmingtno", nil, "node:2"},
		{"wilmignton main street", nil, "way:20"},
		// Nothing at all.
		{"", nil, ""}, {" ", nil, ""}, {"*", nil, ""}, {",;.-/", nil, ""}, {"😀", nil, ""}, {"\x00\xff\xfe", nil, ""}, {"zzzzqqqq", nil, ""},
		{"的", nil, ""},
	})
}

// TestOneResult: a street is one result, though its ways are several and its houses match as well. So is a city that is
// a node and an area.
func TestOneResult(t *testing.T) {
	t.Parallel()
	x := openRegion(t, state()+`
		n900 -75.53 39.15 / n901 -75.51 39.15 / n902 -75.51 39.17 / n903 -75.53 39.17
		w900 900 901 902 903 900
		r900 w900:outer type=boundary boundary=administrative admin_level=8 name=Dover`)
	for text, want := range map[string]int{"Main Street": 1, "main st dover": 1, "36 Main Street": 1, "Dover": 1, "Weaver Street": 1, "Biggs Museum": 1} {
		named := 0
		got := ask(t, x, &geocoding.Query{Text: text, Limit: 20})
		for i := range got {
			if got[i].DisplayName == got[0].DisplayName {
				named++
			}
		}
		if named != want {
			t.Errorf("%q: %d results, want %d%s", text, named, want, described(got))
		}
	}
}

// TestNarrowed: the other fields of a query.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	x := openRegion(t, state())
	around := func(p orb.Point) *orb.Bound {
		b := p.Bound().Pad(.05)
		return &b
	}
	for _, c := range []struct {
		geocoding.Query
		want string
	}{
		{geocoding.Query{Text: "main street", Bound: around(wilmington)}, "way:20"},
		{geocoding.Query{Text: "main street", Bound: around(dover), Limit: 1}, "way:11"},
		{geocoding.Query{Text: "main street", Bound: around(orb.Point{10, 50})}, ""},
		{geocoding.Query{Text: "main street", Bound: &orb.Bound{Min: orb.Point{170, 0}, Max: orb.Point{-75.51, 39.5}}, Limit: 1}, "way:11"},
		{geocoding.Query{Text: "main street", Bound: &orb.Bound{Min: orb.Point{-75, 0}, Max: orb.Point{-76, 90}}}, ""},
		{geocoding.Query{Text: "dover", Countries: []string{"USA"}, Limit: 1}, "node:1"},
		{geocoding.Query{Text: "dover", Countries: []string{"GBR", "USA"}, Limit: 1}, "node:1"},
		{geocoding.Query{Text: "dover", Countries: []string{"GBR"}}, ""},
		{geocoding.Query{Text: "main", Categories: []string{"restaurant"}}, "node:205"},
		{geocoding.Query{Text: "main", Categories: []string{"Amenity"}}, "node:205"},
		{geocoding.Query{Text: "main", Categories: []string{"museum", "amenity"}}, "node:205"},
		{geocoding.Query{Text: "main", Categories: []string{"hospital"}}, ""},
		{geocoding.Query{Text: "main", Keep: func(category, kind string, _ geocoding.Layer) bool {
			return category == "highway" && kind == "residential"
		}, Limit: 1}, "way:30"},
		{geocoding.Query{Text: "milford", Keep: func(_, _ string, l geocoding.Layer) bool { return l == geocoding.LayerDistrict }}, "node:5"},
		{geocoding.Query{Text: "36 main street dover", Keep: func(_, _ string, l geocoding.Layer) bool { return l == geocoding.LayerHouse }, Limit: 1}, "node:101"},
		{geocoding.Query{Text: "38 main street dover", Keep: func(_, _ string, l geocoding.Layer) bool { return l == geocoding.LayerHouse }, Limit: 1}, "way:11"},
		{geocoding.Query{Text: "36 main street dover", Categories: []string{"place"}, Limit: 1}, "node:101"},
		{geocoding.Query{Text: "36 main street dover", Categories: []string{"highway"}, Limit: 1}, "way:11"},
		{geocoding.Query{Text: "lost lane", Categories: []string{"house"}}, ""},
		{geocoding.Query{Text: "lost lane", Categories: []string{"street"}}, "node:141"},
		{geocoding.Query{Text: "19904", Categories: []string{"place"}}, ""},
		{geocoding.Query{Text: "19904", Categories: []string{"postal_code"}}, "node:143"},
		{geocoding.Query{Text: "weaver street", Limit: 1}, "way:13"},
		{geocoding.Query{Text: "main street", Near: &newport, Limit: 2}, "way:30 way:20"},
		{geocoding.Query{Text: "main street", Near: &newport, Limit: 3}, "way:30 way:20 way:11"},
		{geocoding.Query{Text: "36 main st", Near: &dover, Zoom: 18, Limit: 1}, "node:101"},
		{geocoding.Query{Text: "dover", Near: &wilmington, Zoom: 5, Limit: 1}, "node:1"},
	} {
		if got := ask(t, x, &c.Query); ids(got) != c.want {
			t.Errorf("%+v: %q, want %q%s", c.Query, ids(got), c.want, described(got))
		}
	}
}

// TestFields: what a result has beside its id.
func TestFields(t *testing.T) {
	t.Parallel()
	x := openRegion(t, state())
	find := func(text string, languages ...string) geocoding.Place {
		t.Helper()
		got := ask(t, x, &geocoding.Query{Text: text, Languages: languages, Near: &dover})
		if len(got) == 0 {
			t.Fatalf("%q: nothing", text)
		}
		return got[0]
	}
	house := find("36 main street dover")
	if a := house.Address; house.Layer != geocoding.LayerHouse || a.HouseNumber != "36" || a.Street != "Main Street" || a.City != "Dover" || a.Postcode != "19901" || a.CountryCode != "USA" {
		t.Errorf("%+v", house)
	}
	if want := (orb.Point{dover[0] + .002, dover[1] + .0003}); math.Hypot(house.Location[0]-want[0], house.Location[1]-want[1]) > 1e-6 || math.Abs(house.Distance-176) > 2 {
		t.Errorf("%v, %v m", house.Location, house.Distance)
	}
	// 38 is between 36 and 40, 205 in the middle of 201 to 209.
	for text, want := range map[string]orb.Point{
		"38 main street dover": {dover[0] + .003, dover[1] + .0003}, "205 loockerman street dover": {dover[0] + .004, dover[1] - .0033}, "203 loockerman street": {dover[0] + .003, dover[1] - .0033},
	} {
		number, _, _ := strings.Cut(text, " ")
		p := find(text)
		if p.Address.HouseNumber != number || p.Layer != geocoding.LayerHouse || math.Hypot(p.Location[0]-want[0], p.Location[1]-want[1]) > 1e-5 || !strings.HasPrefix(p.Name, number+" ") {
			t.Errorf("%q: %+v, want it at %v", text, p, want)
		}
	}
	if p := find("5000 main street dover"); p.ID != "way:11" || p.Layer != geocoding.LayerStreet || p.Address.HouseNumber != "" {
		t.Errorf("a number that the street lacks: %+v", p)
	}
	if p := find("lost lane"); p.Name != "Lost Lane" || p.Category != "place" || p.Type != "street" || p.Address.HouseNumber != "" || p.Layer != geocoding.LayerStreet {
		t.Errorf("a street without a way: %+v", p)
	}
	if p := find("19904"); p.Name != "19904" || p.Category != "boundary" || p.Type != "postal_code" || p.Address.HouseNumber != "" || p.Address.Street != "" {
		t.Errorf("a postcode: %+v", p)
	}
	shops := func(category, _ string, _ geocoding.Layer) bool { return category == "shop" }
	if got := ask(t, x, &geocoding.Query{Text: "main grill", Keep: shops}); len(got) != 1 || got[0].Category != "shop" || got[0].Type != "deli" {
		t.Errorf("a restaurant with a shop, as a shop: %s", described(got))
	}
	if p := find("biggs museum", "de"); p.Name != "Kunstmuseum" {
		t.Errorf("in German: %+v", p)
	}
	if p := find("kunstmuseum"); p.Name != "Biggs Museum" {
		t.Errorf("in no language: %+v", p)
	}
	if p := find("pharmacy dover"); p.Category != "amenity" || p.Type != "pharmacy" || p.Layer != geocoding.LayerOther {
		t.Errorf("a pharmacy: %+v", p)
	}
}

// TestAlphabets: names in other alphabets are found as they are, in Latin letters, and with a typing error.
func TestAlphabets(t *testing.T) {
	t.Parallel()
	checkQueries(t, openRegion(t, `
		n1 name=Москва place=city / n2 name=Невский+проспект amenity=cafe
		n3 name=Αθήνα place=city / n4 name=Ακρόπολη tourism=museum
		n5 name=القاهرة place=city / n6 name=متحف amenity=library
		n7 name=አዲስ+አበባ place=city int_name=Addis+Ababa / n8 name=ሆቴል+ላሊበላ tourism=hotel
		n9 name=東京駅 railway=station / n10 name=서울 place=city
		n11 name=České+Budějovice place=city / n12 name=Łódź place=city`), []query{
		{"Москва", nil, "node:1"}, {"москва", nil, "node:1"}, {"моск*", nil, "node:1"}, {"масква", nil, "node:1"}, {"Moskva", nil, "node:1"}, {"moskwa", nil, "node:1"},
		{"невский пр", nil, "node:2"}, {"Nevskiy prospekt", nil, "node:2"}, {"nevski prospekt", nil, "node:2"}, {"невскй проспект", nil, "node:2"},
		{"Αθήνα", nil, "node:3"}, {"αθηνα", nil, "node:3"}, {"ΑΘΗΝΑ", nil, "node:3"}, {"Athina", nil, "node:3"}, {"αθινα", nil, "node:3"}, {"akropoli", nil, "node:4"}, {"akropolli", nil, "node:4"},
		{"القاهرة", nil, "node:5"}, {"القاهره", nil, "node:5"}, {"القاهر", nil, "node:5"}, {"متحف", nil, "node:6"}, {"متف", nil, "node:6"},
		{"አዲስ አበባ", nil, "node:7"}, {"አዲስ*", nil, "node:7"}, {"addis ababa", nil, "node:7"}, {"adis abeba", nil, "node:7"}, {"hotel lalibela", nil, "node:8"}, {"ላሊበላ", nil, "node:8"},
		{"東京駅", nil, "node:9"}, {"東京", nil, "node:9"}, {"서울", nil, "node:10"}, {"서*", nil, "node:10"},
		{"ceske budejovice", nil, "node:11"}, {"budejovce", nil, "node:11"}, {"lodz", nil, "node:12"}, {"Łódź", nil, "node:12"},
	})
}

// TestAnyText: any text ends in an answer or none, at once: long, of one word or very many, with bytes that are no
// letters.
func TestAnyText(t *testing.T) {
	t.Parallel()
	x := openRegion(t, state())
	for _, text := range []string{
		strings.Repeat("x", 10_000), strings.Repeat("main ", 2000), strings.Repeat("é", 5000), strings.Repeat("1", 300), strings.Repeat("1-", 300), strings.Repeat("a.", 300),
		strings.Repeat("東", 200), "😀😀 main 😀 street", "\xff\xfemain\x00street", "main\nstreet\t dover", "99999999999999999999 main street", "-1 main street",
		"0 main street", "main street 1/2/3/4/5/6/7/8/9", "\u202emain street", "' '' ''' main street", "((main)) [street]", "<b>main</b> street", "main+street",
	} {
		for _, half := range []bool{false, true} {
			for _, p := range []*orb.Point{nil, &dover} {
				got := ask(t, x, &geocoding.Query{Text: text, Autocomplete: half, Near: p})
				if found := strings.Contains(text, "main") && strings.Contains(text, "street"); found && !strings.Contains(ids(got), "way:11") {
					t.Errorf("%.40q: %s%s", text, ids(got), described(got))
				}
			}
		}
	}
	// What is beyond the limit does not count.
	long := "main street dover " + strings.Repeat(" ", geocoding.MaxQuery) + "wilmington"
	if got := ask(t, x, &geocoding.Query{Text: long}); len(got) == 0 || got[0].ID != "way:11" {
		t.Errorf("%v", described(got))
	}
}

// TestAddresses: how addresses are written elsewhere.
func TestAddresses(t *testing.T) {
	t.Parallel()
	var d drawing
	cities := map[string]orb.Point{"Berlin": {13.4, 52.52}, "Paris": {2.35, 48.86}, "Porto": {-8.61, 41.15}, "Praha": {14.42, 50.08}, "Madrid": {-3.7, 40.42}, "Mannheim": {8.4666, 49.4874}}
	n := 0
	for _, city := range slices.Sorted(maps.Keys(cities)) {
		n++
		d.nodeAt(n, cities[city][0], cities[city][1], "place=city population=1000000 name="+city)
	}
	street := func(id int, city, name string, north float64) {
		at := cities[city]
		d.way(id, "highway=residential name="+name, at[0], at[1]+north, at[0]+.008, at[1]+north)
	}
	house := func(id int, city, street, number, postcode string, east, north float64) {
		at := cities[city]
		d.nodeAt(id, at[0]+east, at[1]+north, fmt.Sprintf("addr:housenumber=%s addr:street=%s addr:city=%s addr:postcode=%s", number, street, city, postcode))
	}
	street(10, "Berlin", "Königstraße", .001)
	street(11, "Berlin", "Straße+des+17.+Juni", .004)
	street(12, "Berlin", "Hauptstraße", .008)
	house(100, "Berlin", "Königstraße", "12", "10115", .001, .0012)
	house(101, "Berlin", "Straße+des+17.+Juni", "5", "10557", .001, .0042)
	house(102, "Berlin", "Hauptstraße", "12A-12C", "10827", .001, .0082)
	house(103, "Berlin", "Hauptstraße", "7;9", "10827", .002, .0082)
	street(20, "Paris", "Rue+de+la+Paix", .001)
	street(21, "Paris", "Avenue+du+Général+Leclerc", .004)
	house(200, "Paris", "Rue+de+la+Paix", "12+bis", "75002", .001, .0012)
	house(201, "Paris", "Rue+de+la+Paix", "12", "75002", .0012, .0012)
	house(202, "Paris", "Avenue+du+Général+Leclerc", "3", "75014", .0012, .0042)
	street(30, "Porto", "Rua+de+Santa+Catarina", .001)
	street(31, "Porto", "Rua+de+São+João", .004)
	house(300, "Porto", "Rua+de+Santa+Catarina", "112", "4000-447", .001, .0012)
	house(301, "Porto", "Rua+de+São+João", "8", "4050-553", .001, .0042)
	street(40, "Praha", "Na+Příkopě", .001)
	house(400, "Praha", "Na+Příkopě", "1415/7", "110+00", .001, .0012)
	street(50, "Madrid", "Calle+Mayor", .001)
	street(51, "Madrid", "Calle+de+Nuestra+Señora+del+Carmen", .004)
	house(500, "Madrid", "Calle+Mayor", "3", "28013", .001, .0012)
	house(600, "Mannheim", "Q7", "24", "68161", .001, .0012)
	checkQueries(t, openRegion(t, osmtest.Sketch(d.String())), []query{
		{"Königstraße 12, 10115 Berlin", nil, "node:100"}, {"Koenigstrasse 12 Berlin", nil, "node:100"}, {"konigstr. 12", nil, "node:100"}, {"KÖNIGSTR 12 BERLIN", nil, "node:100"}, {"König Straße 12", nil, "node:100"},
		{"Straße des 17. Juni 5", nil, "node:101"}, {"str. d. 17 juni 5 berlin", nil, "node:101"},
		{"Hauptstr. 12a, Berlin", nil, "node:102"}, {"Hauptstraße 12A-12C", nil, "node:102"}, {"Hauptstraße 9", nil, "node:103"}, {"Hauptstraße 7", nil, "node:103"}, {"haupts*", nil, "way:12"},
		{"12 bis rue de la Paix Paris", nil, "node:200"}, {"12bis rue de la paix", nil, "node:200"}, {"rue de la paix 12 ter", nil, "node:201"}, {"12, rue de la Paix, 75002 Paris", nil, "node:201"}, {"rue de la paix", nil, "way:20"}, {"r. de la paix", nil, "way:20"}, {"rue paix", nil, "way:20"},
		{"3 av. du gal leclerc", nil, "node:202"}, {"3 avenue du general leclerc 75014", nil, "node:202"},
		{"Rua de Santa Catarina 112, 4000-447 Porto", nil, "node:300"}, {"R. Sta. Catarina 112", nil, "node:300"}, {"santa catarina, porto", nil, "way:30"}, {"r s joao 8 porto", nil, "node:301"}, {"rua sao joao, 8", nil, "node:301"},
		{"Na Příkopě 1415/7, Praha", nil, "node:400"}, {"na prikope 1415", nil, "node:400"}, {"Na Příkopě 1415/7, 110 00 Praha", nil, "node:400"},
		{"C/ Mayor 3, Madrid", nil, "node:500"}, {"calle mayor, 3 28013", nil, "node:500"}, {"c. ntra. sra. del carmen", nil, "way:51"},
		{"Q7 24 Mannheim", nil, "node:600"}, {"Q7, 24", nil, "node:600"}, {"Q 7 24 Mannheim", nil, "node:600"},
		{"4000-447", nil, "node:300"}, {"10115", nil, "node:100"}, {"10115 Berlin", nil, "node:1 node:100"}, {"10116 Berlin", nil, "node:1 node:100"},
	})
}

// TestAntimeridian: what is across the antimeridian is near.
func TestAntimeridian(t *testing.T) {
	t.Parallel()
	x := openRegion(t, `
		n1 179.99 -17 shop=bakery name=Bakery
		n2 -179.9 -17 shop=bakery name=Bakery
		n3 179.0 -17 shop=bakery name=Bakery`)
	checkQueries(t, x, []query{
		{"bakery", &orb.Point{-179.99, -17}, "node:1 node:2 node:3"},
		{"bakery", &orb.Point{-179.91, -17}, "node:2 node:1 node:3"},
		{"bakery", &orb.Point{179.1, -17}, "node:3 node:1 node:2"},
	})
	across := &orb.Bound{Min: orb.Point{179.5, -20}, Max: orb.Point{-179.5, -10}}
	if got := ask(t, x, &geocoding.Query{Text: "bakery", Bound: across, Near: &orb.Point{180, -17}}); ids(got) != "node:1 node:2" {
		t.Errorf("%s", described(got))
	}
	if got := ask(t, x, &geocoding.Query{Text: "bakery", Near: &orb.Point{-179.99, -17}, Limit: 1}); len(got) != 1 || math.Abs(got[0].Distance-2127) > 10 {
		t.Errorf("%+v", got)
	}
}
