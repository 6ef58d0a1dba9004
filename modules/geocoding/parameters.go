package geocoding

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

const (
	defaultLimit = 5
	maxLimit     = 10
	maxZoom      = 22
	maxTerms     = 64       // of a category
	maxText      = 16 << 10 // bytes of a category or language
	maxCountries = 1024     // bytes; all alpha-3 codes have less
	maxNumbers   = 256      // bytes of a list of numbers
)

// parameters are those of a query.
type parameters struct {
	names  []string
	values [10]request.QueryValue
	err    error // the first mistake, an apierror.Error
}

// scan finds the parameters of a query, and ignores unknown ones.
func (p *parameters) scan(query string) {
	if repeated := request.ScanQuery(query, p.names, p.values[:len(p.names)]); repeated != "" {
		p.err = apierror.FailedValidation(repeated + ": appears more than once")
	}
}

func (p *parameters) value(name string) request.QueryValue {
	return p.values[slices.Index(p.names, name)]
}

// wrong notes a mistake.
func (p *parameters) wrong(name, format string, args ...any) {
	if p.err == nil {
		p.err = apierror.FailedValidation(name + ": " + fmt.Sprintf(format, args...))
	}
}

// The parameters of reverse geocoding.
var reverseNames = []string{"lat", "lon", "lng", "size", "limit", "category", "language", "geometry"}

// parse overwrites req with what a query asks for. size is the default. Languages are nil if the query chooses none.
// The error is an apierror.Error.
func parse(query string, size int, req *geocoding.Request) error {
	*req = geocoding.Request{}
	p := parameters{names: reverseNames}
	p.scan(query)
	req.Point[1] = p.coordinate("lat", 90)
	req.Point[0] = p.coordinate(p.either("lon", "lng"), 180)
	req.Size = p.whole(p.either("size", "limit"), size, geocoding.MaxSize)
	req.Categories = p.categories("category")
	req.Shapes = p.boolean("geometry", false)
	req.Languages = p.languages("language")
	return p.err
}

// The parameters of searches, of which the first is the text: in the usual form and on the older path.
var searchNames = [...][]string{
	{"query", "limit", "autocomplete", "proximity", "zoom", "bbox", "country", "language", "category", "explain"},
	{"name", "limit", "autocomplete", "proximity", "zoom", "bbox", "country", "language", "category", "explain"},
}

// parseSearchQuery overwrites q with what a query asks for. explain asks for scores. Languages are nil if the query
// chooses none. The error is an apierror.Error.
func parseSearchQuery(query string, names []string, q *geocoding.Query) (explain bool, err error) {
	p := parameters{names: names}
	p.scan(query)
	*q = geocoding.Query{
		Text:         p.text(names[0], geocoding.MaxQuery),
		Limit:        p.whole("limit", defaultLimit, maxLimit),
		Autocomplete: p.boolean("autocomplete", true),
		Near:         p.proximity("proximity"),
		Zoom:         p.zoom("zoom"),
		Bound:        p.box("bbox"),
		Countries:    p.countries("country"),
		Languages:    p.languages("language"),
		Categories:   p.categories("category"),
	}
	switch {
	case !p.values[0].Present:
		p.wrong(names[0], "is missing")
	case strings.TrimSpace(q.Text) == "":
		p.wrong(names[0], "is empty")
	case !utf8.ValidString(q.Text):
		p.wrong(names[0], "is not valid UTF-8")
	}
	return p.boolean("explain", false), p.err
}

// either returns the name of a parameter that is given, of two with the same meaning.
func (p *parameters) either(name, alias string) string {
	if !p.value(alias).Present {
		return name
	}
	if p.value(name).Present {
		p.wrong(alias, "means the same as %s; only one of them is accepted", name)
	}
	return alias
}

// text reads at most longest bytes.
func (p *parameters) text(name string, longest int) string {
	text, err := p.value(name).Text(longest)
	if err != nil {
		p.wrong(name, "%v", err)
	}
	return text
}

func (p *parameters) number(name string, least, most float64) float64 {
	number, ok := p.value(name).Number()
	if !ok || number < least || number > most {
		p.wrong(name, "must be a number from %v to %v", least, most)
	}
	return number
}

func (p *parameters) coordinate(name string, limit float64) float64 {
	if !p.value(name).Present {
		p.wrong(name, "is missing")
	}
	return p.number(name, -limit, limit)
}

// whole reads a whole number from 1 to most.
func (p *parameters) whole(name string, preset, most int) int {
	if !p.value(name).Present {
		return preset
	}
	number, ok := p.value(name).Number()
	if !ok || number < 1 || number > float64(most) || number != float64(int(number)) {
		p.wrong(name, "must be a whole number from 1 to %d", most)
	}
	return int(number)
}

func (p *parameters) boolean(name string, preset bool) bool {
	if !p.value(name).Present {
		return preset
	}
	word, err := p.value(name).Text(len("false"))
	if err != nil || word != "true" && word != "false" {
		p.wrong(name, "must be true or false")
	}
	return word == "true"
}

// categories reads terms with commas between them, without blank ones. Without terms there is no restriction.
func (p *parameters) categories(name string) (terms []string) {
	for term := range strings.SplitSeq(p.text(name, maxText), ",") {
		if term = strings.TrimSpace(term); term != "" && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
		if len(terms) > maxTerms {
			p.wrong(name, "has more than %d terms", maxTerms)
			break
		}
	}
	return terms
}

// languages reads languages in the form of the header Accept-Language. A blank text counts as none.
func (p *parameters) languages(name string) []string {
	text := p.text(name, maxText)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	languages, err := geocoding.ParseLanguages(text)
	if err != nil {
		p.wrong(name, "%v", err)
	} else if languages == nil {
		languages = []string{} // "*" means any language; the header is ignored
	}
	return languages
}

// proximity reads <lat>,<lon>, or lonlat:<lon>,<lat>; nil if it is absent.
func (p *parameters) proximity(name string) *orb.Point {
	if !p.value(name).Present {
		return nil
	}
	given, swapped := strings.CutPrefix(p.text(name, maxNumbers), "lonlat:")
	if at, ok := numbers(given, 180, 90); swapped && ok {
		return &orb.Point{at[0], at[1]}
	} else if at, ok = numbers(given, 90, 180); !swapped && ok {
		return &orb.Point{at[1], at[0]}
	}
	p.wrong(name, "must be <lat>,<lon> or lonlat:<lon>,<lat>, in degrees")
	return nil
}

func (p *parameters) zoom(name string) float64 {
	if !p.value(name).Present {
		return 0
	}
	return max(p.number(name, 0, maxZoom), math.SmallestNonzeroFloat64) // 0 is the default
}

func (p *parameters) box(name string) *orb.Bound {
	if !p.value(name).Present {
		return nil
	}
	b, ok := parseBox(p.text(name, maxNumbers))
	if !ok || b.Min[1] > b.Max[1] {
		p.wrong(name, "must be <minlon>,<minlat>,<maxlon>,<maxlat>, in degrees")
	}
	return b
}

// parseBox reads <minlon>,<minlat>,<maxlon>,<maxlat>.
func parseBox(text string) (b *orb.Bound, ok bool) {
	edges, ok := numbers(text, 180, 90, 180, 90)
	if !ok {
		return nil, false
	}
	return &orb.Bound{Min: orb.Point(edges[:2]), Max: orb.Point(edges[2:])}, true
}

// numbers reads numbers with commas between them, of which the ith is from -limits[i] to limits[i].
func numbers(v string, limits ...float64) (read []float64, ok bool) {
	parts := strings.Split(v, ",")
	if len(parts) != len(limits) {
		return nil, false
	}
	for i, part := range parts {
		number, ok := text.ParseNumber([]byte(strings.TrimSpace(part)))
		if !ok || math.Abs(number) > limits[i] {
			return nil, false
		}
		read = append(read, number)
	}
	return read, true
}

// countries reads codes with commas between them, and returns alpha-3 codes. Blank ones are ignored.
func (p *parameters) countries(name string) (codes []string) {
	for code := range strings.SplitSeq(p.text(name, maxCountries), ",") {
		if code = strings.ToUpper(strings.TrimSpace(code)); code == "" {
			continue
		}
		c, known := country.ByAlpha3(code)
		if len(code) == len("DE") {
			c, known = country.ByAlpha2(code)
		}
		if !known {
			p.wrong(name, "%q is not an ISO 3166-1 code", code)
		}
		codes = append(codes, c.Code)
	}
	return codes
}

const acceptLanguage = "Accept-Language"

// accepted returns the languages of a request's header, and notes that the response depends on it. A malformed header
// counts as none, since a server may ignore it.
func accepted(w http.ResponseWriter, r *http.Request) []string {
	values := r.Header[acceptLanguage]
	if len(values) == 0 {
		return nil
	}
	languages, _ := geocoding.ParseLanguages(strings.Join(values, ","))
	if languages != nil {
		w.Header().Add("Vary", acceptLanguage)
	}
	return languages
}
