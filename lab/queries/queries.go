package queries

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// The kinds of queries.
const (
	KindAddress = "address"
	KindTypo    = "typo"
	KindNear    = "near"
	KindPOI     = "poi"
	KindPlace   = "place"
	KindStreet  = "street"
	KindPrefix  = "prefix"
	// KindName asks for other names than the main one: in other languages, alternative, old and short ones.
	KindName = "other name"
	// KindCrowd is KindPrefix also where five others match as well and are nearer.
	KindCrowd = "prefix in a crowd"
)

// Kinds are all kinds.
func Kinds() []string {
	return []string{KindAddress, KindTypo, KindNear, KindPOI, KindPlace, KindStreet, KindPrefix, KindCrowd, KindName}
}

// Reach is how far in metres a result may be from what is expected.
const Reach = 50

// reachNear is how far in metres proximity is from what is asked for.
const reachNear = 3000

// Query is a search with its expected answer.
type Query struct {
	Kind string
	geocoding.Query
	target *object
	want   []*object // each is as good
	city   string    // that is asked for
	rest   []*object // other parts of the street, accepted if their address names the city
}

// Expected describes the answer.
func (q *Query) Expected() string {
	return strings.TrimSpace(q.target.id + " " + q.target.number + " " + q.target.name + ", " + q.target.address.City)
}

// Found reports whether a result is what is expected.
func (q *Query) Found(p *geocoding.Place) bool {
	return slices.ContainsFunc(q.want, func(o *object) bool {
		if o.number != "" {
			return house(p.Address.HouseNumber) == house(o.number) && o.metres(p.Location) <= Reach
		}
		return p.ID == o.id || plain(p.Name) == o.plain && o.metres(p.Location) <= Reach
	}) || q.city != "" && plain(p.Address.City) == q.city && slices.ContainsFunc(q.rest, func(o *object) bool {
		return p.ID == o.id
	})
}

// Generator makes queries.
type Generator struct {
	x       *Extract
	pools   map[string][]*object // by kind
	byName  map[string][]*object // by plain name, houses by number and plain street
	byOther map[string][]*object // by other plain names
}

// New returns a generator of queries about an extract, after Locate.
func New(x *Extract) *Generator {
	g := &Generator{x: x, pools: map[string][]*object{}, byName: map[string][]*object{},
		byOther: map[string][]*object{}}
	for i := range x.objects {
		o := &x.objects[i]
		if key := o.key(); key != "" {
			g.byName[key] = append(g.byName[key], o)
		}
		if !g.valid(o) {
			continue
		}
		g.pools[o.kind] = append(g.pools[o.kind], o)
		if o.number != "" || o.kind == "" {
			continue
		}
		names := o.otherNames()
		if len(names) > 0 {
			g.pools[KindName] = append(g.pools[KindName], o)
		}
		for _, name := range names {
			g.byOther[plain(name)] = append(g.byOther[plain(name)], o)
		}
	}
	return g
}

// otherNames are the names that are not the main one.
func (o *object) otherNames() (names []string) {
	for _, t := range o.tags {
		language, ok := strings.CutPrefix(t.Key, "name:")
		if ok && len(language) <= 3 || slices.Contains([]string{"alt_name", "old_name", "short_name", "official_name",
			"loc_name", "int_name"}, t.Key) {
			for name := range strings.SplitSeq(t.Value, ";") {
				if p := plain(name); p != "" && p != o.plain && strings.ContainsFunc(p, unicode.IsLetter) {
					names = append(names, strings.TrimSpace(name))
				}
			}
		}
	}
	return names
}

// house is a house number in which equally good spellings are the same.
func house(number string) string { return strings.ToLower(strings.ReplaceAll(number, " ", "")) }

func (o *object) key() string {
	if o.number != "" {
		return house(o.number) + " " + o.plain
	}
	return o.plain
}

// valid reports whether an object may be asked for: not if it has no letters, is named as what it is, has several
// numbers or none, or is not whole in the extract.
func (g *Generator) valid(o *object) bool {
	return !o.torn && strings.ContainsFunc(o.plain, unicode.IsLetter) && !g.x.terms[o.plain] && len(o.name) <= 80 &&
		!strings.Contains(o.name, ";") && (o.number == "" || numbers.MatchString(o.number))
}

var numbers = regexp.MustCompile(`^[0-9]{1,5} ?[A-Za-z]?([-/][0-9]{1,5}[a-z]?)?$`)

// Make makes up to n different queries of a kind, the same ones for a seed. It makes fewer if the extract has too few
// of the kind or nearly all are ambiguous.
func (g *Generator) Make(kind string, n int, seed uint64) []Query {
	r := rand.New(rand.NewPCG(seed, uint64(slices.Index(Kinds(), kind))))
	var all []Query
	asked := map[string]bool{}
	for range 20 * n {
		if len(all) == n {
			break
		}
		q := g.one(r, kind)
		if q == nil {
			continue
		}
		key := strings.Join(words(q.Text), " ")
		if q.Near != nil {
			key += fmt.Sprint(*q.Near)
		}
		if !asked[key] {
			asked[key] = true
			q.Kind, q.Limit = kind, 5
			all = append(all, *q)
		}
	}
	return all
}

func (g *Generator) one(r *rand.Rand, kind string) *Query {
	base := kind
	switch kind {
	case KindTypo:
		base = []string{KindAddress, KindStreet, KindPOI, KindPlace}[r.IntN(4)]
	case KindNear:
		base = []string{KindAddress, KindStreet}[r.IntN(2)]
	case KindPrefix, KindCrowd:
		base = []string{KindAddress, KindStreet, KindStreet, KindPOI, KindPlace}[r.IntN(5)]
	}
	pool := g.pools[base]
	if len(pool) == 0 {
		return nil
	}
	o := pool[r.IntN(len(pool))]
	q := &Query{target: o}
	switch kind {
	case KindNear, KindPrefix, KindCrowd:
		return g.near(r, q, kind)
	}
	if kind == KindName {
		names := o.otherNames()
		name := names[r.IntN(len(names))]
		q.want = slices.Concat(g.equals(o, "", ""), g.byOther[plain(name)], g.byName[plain(name)])
		for _, other := range g.byOther[plain(name)] {
			q.want = append(q.want, g.equals(other, other.address.City, "")...)
		}
		q.Text = dress(r, name)
		return q.checked()
	}
	city := o.address.City
	switch {
	case base == KindPlace:
		if city = ""; r.IntN(2) == 0 {
			city = cmp.Or(o.address.State, o.address.Country)
		}
	case base == KindPOI && r.IntN(3) == 0:
		city = ""
	}
	text := o.ask(r, city)
	if kind == KindTypo {
		if g.mistyped(r, q, text, city) {
			return q
		}
		return nil
	}
	q.want = g.equals(o, city, text)
	q.city, q.rest = plain(city), g.wholes(q.want)
	if r.IntN(10) < 3 {
		text = abbreviate(r, text)
	}
	q.Text = dress(r, text)
	return q.checked()
}

// checked returns a query if its target is among what is wanted, and nil otherwise.
func (q *Query) checked() *Query {
	if q == nil || !slices.Contains(q.want, q.target) || len(q.Text) > geocoding.MaxQuery {
		return nil
	}
	return q
}

// numberFirst are the countries in which the number is written before the street.
var numberFirst = []string{"USA", "CAN", "GBR", "IRL", "AUS", "NZL", "FRA"}

// ask writes what a person types for an object, with a city, state or country if that is not empty.
func (o *object) ask(r *rand.Rand, city string) string {
	name := o.name
	first := slices.Contains(numberFirst, o.address.CountryCode)
	if o.number != "" {
		if first != (r.IntN(8) == 0) { // some people write it as abroad
			name = o.number + " " + name
		} else {
			name += " " + o.number
		}
	}
	if city == "" || plain(city) == o.plain {
		return name
	}
	if postcode := o.address.Postcode; o.number != "" && postcode != "" && r.IntN(2) == 0 {
		if first {
			return name + ", " + city + ", " + postcode
		}
		return name + ", " + postcode + " " + city
	}
	if r.IntN(10) == 0 {
		return city + ", " + name
	}
	return name + ", " + city
}

// equals are what a query for an object in a city finds as well: what has the same name there, or the text as its name.
// Among places the larger ones are better. A house with another postcode than the text has is not the same.
func (g *Generator) equals(o *object, city, text string) (want []*object) {
	same := g.byName[o.key()]
	top := 0
	for _, other := range same {
		top = max(top, other.rank)
	}
	city = plain(city)
	for _, other := range same {
		switch {
		case o.kind == KindPlace:
			if other.rank >= top-1 && (other.rank > 0 || top <= 1) {
				want = append(want, other)
			}
		case city != "" && other.city != city:
		case o.number != "" && other.address.Postcode != "" && other.address.Postcode != o.address.Postcode &&
			strings.Contains(text, o.address.Postcode) && o.address.Postcode != "":
		default:
			want = append(want, other)
		}
	}
	if city != "" && o.number == "" {
		want = append(want, g.byName[plain(text)]...)
	}
	return want
}

// near makes a query with proximity and no city.
func (g *Generator) near(r *rand.Rand, q *Query, kind string) *Query {
	o := q.target
	radius, angle := reachNear*math.Sqrt(r.Float64()), 2*math.Pi*r.Float64()
	const degree = 111_195 // metres
	q.Near = &orb.Point{o.at[0] + radius*math.Cos(angle)/degree/math.Cos(o.at[1]*math.Pi/180),
		o.at[1] + radius*math.Sin(angle)/degree}
	text := o.ask(r, "")
	q.want = g.nearby(o, *q.Near)
	if kind == KindNear {
		if r.IntN(10) < 3 {
			text = abbreviate(r, text)
		}
	} else {
		if q.Autocomplete, text = true, halve(text); text == "" || kind == KindPrefix && g.crowded(q, text) {
			return nil
		}
	}
	q.Text = dress(r, text)
	return q.checked()
}

// nearby are what has the same name as an object and is not much farther from a position than the nearest of these, and
// what has it in the same city.
func (g *Generator) nearby(o *object, p orb.Point) (want []*object) {
	same := g.byName[o.key()]
	distances := make([]float64, len(same))
	for i, other := range same {
		distances[i] = other.metres(p)
	}
	const aside = 500
	limit := 2*slices.Min(distances) + aside
	cities := map[string]bool{}
	for i, other := range same {
		if distances[i] <= limit {
			cities[other.city] = true
		}
	}
	for i, other := range same {
		if distances[i] <= limit || other.number == "" && cities[other.city] && other.city != "" {
			want = append(want, other)
		}
	}
	return append(want, g.wholes(want)...)
}

// wholes are the parts of the whole streets that some ways are parts of.
func (g *Generator) wholes(ways []*object) (parts []*object) {
	all := map[int]bool{0: true}
	for _, o := range ways {
		if !all[o.whole] {
			all[o.whole] = true
			for _, other := range g.byName[o.key()] {
				if other.whole == o.whole {
					parts = append(parts, other)
				}
			}
		}
	}
	return parts
}

// crowded reports whether five others match an unfinished text as well and are nearer.
func (g *Generator) crowded(q *Query, text string) bool {
	typed := words(text)
	last := len(typed) - 1
	own := math.Inf(1)
	for _, o := range q.want {
		own = min(own, o.metres(*q.Near))
	}
	others := map[string]bool{}
	for i := range g.x.objects {
		o := &g.x.objects[i]
		all := o.words
		if o.number != "" {
			if q.target.number == "" {
				continue
			}
			all = append(words(o.number), all...)
		}
		matches := slices.ContainsFunc(all, func(w string) bool { return strings.HasPrefix(w, typed[last]) })
		for _, w := range typed[:last] {
			matches = matches && slices.Contains(all, w)
		}
		if matches && !slices.Contains(q.want, o) && o.metres(*q.Near) < own {
			if others[o.key()+"|"+o.city] = true; len(others) == 5 {
				return true
			}
		}
	}
	return false
}

// mistyped makes a query with a typo, and reports whether it is valid: not if all its words are in some other object.
func (g *Generator) mistyped(r *rand.Rand, q *Query, text, city string) bool {
	typed, from, to := mistype(r, text)
	if typed == "" {
		return false
	}
	o := q.target
	all := words(typed)
	q.want = g.equals(o, city, text)
	q.city, q.rest = plain(city), g.wholes(q.want)
	number := house(o.number)
	pattern := func(list []string) []string {
		list = slices.Clone(list)
		for i, w := range list {
			if w == from {
				list[i] = to
			}
		}
		return list
	}
	name, cityName := pattern(o.words), pattern(words(city))
	inCity := city != "" && o.kind != KindPlace
	for i := range g.x.objects {
		other := &g.x.objects[i]
		exact := true
		for _, w := range all {
			exact = exact && (slices.Contains(other.words, w) || slices.Contains(other.cityWords, w) ||
				other.number != "" && (w == house(other.number) || w == other.address.Postcode))
		}
		if exact {
			return false
		}
		if house(other.number) == number && alike(other.words, name) && (!inCity || alike(other.cityWords, cityName)) &&
			(o.kind != KindPlace || other.kind == KindPlace) {
			q.want = append(q.want, other)
		}
	}
	q.Text = dress(r, typed)
	return q.checked() != nil
}

// alike reports whether words are the same but for at most one letter each.
func alike(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !oneEdit(a[i], b[i]) {
			return false
		}
	}
	return true
}
