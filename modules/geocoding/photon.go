package geocoding

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() { register(photonAPI.directive, func() handler { return newPhoton() }) }

// Photon answers Photon's `GET /api?q=`, `/reverse` and `/status`, so that applications for Photon need only another
// address. What it knows: docs/build/photon-nominatim.md.
type Photon struct{ Peer }

func newPhoton() *Photon { return &Photon{Peer{api: &photonAPI}} }

// CaddyModule returns the Caddy module information.
func (*Photon) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_photon", New: func() caddy.Module { return newPhoton() }}
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_photon [<matcher>] {
//	    prefix   <path>
//	    geocoder <module> [<arguments...>]
//	    public
//	}
//
// `geocoder` may be repeated. Searches need the scope GEOCODING, `/reverse` REVERSEGEOCODING. Example:
//
//	handle_path /photon/* {
//	    maps_auth *
//	    maps_photon {
//	        geocoder local delaware
//	    }
//	}
func (h *Photon) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return h.unmarshal(d, nil) }

var photonAPI = peerAPI{"maps_photon", map[string]func(*peerCall) any{
	"/api": photonSearch, "/reverse": photonReverse,
	"/status": func(*peerCall) any { return map[string]string{"status": "Ok"} },
}, func(message string) any { return map[string]string{"message": message} }}

// photonKnows refuses parameters that Photon does not know on a path. What deduplicates, or is for those who develop
// Photon, changes nothing here.
func (c *peerCall) photonKnows(more ...string) {
	allowed := append(more, "lang", "limit", "debug", "dedupe", "osm_tag", "layer", "lat", "lon")
	slices.Sort(allowed)
	for name := range c.query {
		if !slices.Contains(allowed, name) {
			c.fail("Unknown query parameter '%s'.  Allowed parameters are: [%s]", name, strings.Join(allowed, ", "))
		}
	}
}

func photonSearch(c *peerCall) any {
	c.photonKnows("q", "zoom", "location_bias_scale", "bbox", "countrycode")
	f := c.photonFilter()
	q := geocoding.Query{Text: c.query.Get("q"), Limit: c.limit(15, geocoding.MaxLimit), Autocomplete: true,
		Zoom: c.number("zoom", 12, 0, maxZoom), Countries: c.countries("countrycode"), Languages: c.photonLanguages(),
		Keep: f.keeps}
	if strings.TrimSpace(q.Text) == "" {
		c.fail("Missing parameter 'q'.")
	}
	if c.query.Get("lat")+c.query.Get("lon") != "" {
		near := c.position()
		q.Near = &near
	}
	if given := c.query.Get("bbox"); given != "" {
		var ok bool
		if q.Bound, ok = parseBox(given); !ok {
			c.fail("Invalid bounding box for parameter bbox, expected format is: minLon,minLat,maxLon,maxLat")
		}
	}
	return answer.Photon(c.search(&q))
}

func photonReverse(c *peerCall) any {
	c.photonKnows("radius", "distance_sort")
	f := c.photonFilter()
	return answer.Photon(c.reverse(&geocoding.Request{Point: c.position(), Size: c.limit(1, geocoding.MaxLimit),
		MaxDistance: c.number("radius", 1, 1e-9, 5000) * 1000, // from kilometres
		Languages:   c.photonLanguages(), Categories: f.categories(), Areas: f.onlyAreas(), Keep: f.keeps}))
}

// photonLanguages returns the languages of names. "default" means the names on the ground.
func (c *peerCall) photonLanguages() []string {
	if c.query.Get("lang") == "default" {
		return nil
	}
	return c.languages("lang")
}

// photonFilter is the layers and tags that a request asks for.
type photonFilter struct {
	layers           []geocoding.Layer // empty: all
	include, exclude []tagFilter       // no include: all
}

// tagFilter matches a key, unless it is empty, and a value or, if not, any other one.
type tagFilter struct {
	key, value string
	not        bool
}

func (t *tagFilter) matches(key, value string) bool {
	return (t.key == "" || t.key == key) && (t.value == "" || (t.value == value) != t.not)
}

func (c *peerCall) photonFilter() (f photonFilter) {
	for _, name := range c.query["layer"] {
		i := slices.Index(answer.LayerNames[:], name)
		if i < 0 {
			c.fail("Unknown layer type. Available layers: [%s]", strings.Join(answer.LayerNames[:], ", "))
		}
		f.layers = append(f.layers, geocoding.Layer(max(i, 0)))
	}
	for _, given := range c.query["osm_tag"] {
		key, value, pair := strings.Cut(given, ":")
		key, notKey := strings.CutPrefix(key, "!")
		value, notValue := strings.CutPrefix(value, "!")
		t := tagFilter{key: strings.TrimSpace(key), value: strings.TrimSpace(value)}
		if pair == (t.value == "") || t.key+t.value == "" || strings.Contains(value, ":") {
			c.fail("Invalid parameter 'osm_tag=%s': bad syntax for tag filter.", given)
		}
		if notKey || notValue && t.key == "" {
			f.exclude = append(f.exclude, t)
		} else {
			t.not = notValue
			f.include = append(f.include, t)
		}
	}
	return f
}

// keeps reports whether a feature is wanted. As in Photon's database, there are no railway lines.
func (f *photonFilter) keeps(category, kind string, layer geocoding.Layer) bool {
	layer = answer.PeerLayer(category, kind, layer)
	any := func(list []tagFilter) bool {
		return slices.ContainsFunc(list, func(t tagFilter) bool { return t.matches(category, kind) })
	}
	return !(category == "railway" && layer == geocoding.LayerOther) &&
		(len(f.layers) == 0 || slices.Contains(f.layers, layer)) &&
		(len(f.include) == 0 || any(f.include)) && !any(f.exclude)
}

// categories returns what reverse geocoding should look for; keeps is more exact.
func (f *photonFilter) categories() (terms []string) {
	for _, t := range f.include {
		if t.value != "" && !t.not {
			terms = append(terms, t.value)
		} else {
			terms = append(terms, t.key)
		}
	}
	return terms
}

// onlyAreas reports whether only parts of addresses from a locality upwards are wanted.
func (f *photonFilter) onlyAreas() bool {
	return len(f.layers) > 0 && len(f.include) == 0 && !slices.ContainsFunc(f.layers, func(l geocoding.Layer) bool {
		return l == geocoding.LayerOther || l > geocoding.LayerLocality
	})
}
