package geocoding

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() {
	registerPeer(&photonAPI, func() (caddyhttp.MiddlewareHandler, *Peer) {
		h := &Photon{Peer{api: &photonAPI}}
		return h, &h.Peer
	})
}

// Photon answers Photon's `GET /api?q=`, `/reverse` and `/status`, so that applications for Photon need only another
// address. What it knows: docs/build/photon-nominatim.md.
type Photon struct{ Peer }

// CaddyModule returns the Caddy module information.
func (*Photon) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_photon",
		New: func() caddy.Module { return &Photon{Peer{api: &photonAPI}} }}
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

var photonAPI = peerAPI{"maps_photon", map[string]func(c *peerCall, dst []byte) ([]byte, error){
	"/api": photonSearch, "/reverse": photonReverse,
	"/status": func(_ *peerCall, dst []byte) ([]byte, error) { return append(dst, `{"status":"Ok"}`...), nil },
}, func(message string) any { return map[string]string{"message": message} }}

// The parameters of both paths. What deduplicates, or is for those who develop Photon, changes nothing here.
var photonParameters = []string{"lang", "limit", "debug", "dedupe", "osm_tag", "layer", "lat", "lon"}

func (c *peerCall) photonKnows(more ...string) error {
	allowed := slices.Sorted(slices.Values(append(more, photonParameters...)))
	for name := range c.query {
		if !slices.Contains(allowed, name) {
			return peerErrorf("Unknown query parameter '%s'.  Allowed parameters are: [%s]", name, strings.Join(allowed, ", "))
		}
	}
	return nil
}

func photonSearch(c *peerCall, dst []byte) ([]byte, error) {
	q := geocoding.Query{Text: c.query.Get("q"), Autocomplete: true, Languages: c.photonLanguages(),
		Countries: c.countries("countrycode")}
	err := c.photonKnows("q", "zoom", "location_bias_scale", "bbox", "countrycode")
	if err == nil && strings.TrimSpace(q.Text) == "" {
		err = peerError("Missing parameter 'q'.")
	}
	if err != nil {
		return dst, err
	}
	if c.query.Get("lat")+c.query.Get("lon") != "" {
		near, err := c.position()
		if err != nil {
			return dst, err
		}
		q.Near = &near
	}
	if q.Zoom, err = c.number("zoom", 12, 0, maxZoom); err != nil {
		return dst, err
	}
	if q.Limit, err = c.limit(15, geocoding.MaxLimit); err != nil {
		return dst, err
	}
	if given := c.query.Get("bbox"); given != "" {
		edges, ok := numbers(given, 180, 90, 180, 90)
		if !ok {
			return dst, peerError("Invalid bounding box for parameter bbox, expected format is: minLon,minLat,maxLon,maxLat")
		}
		q.Bound = &orb.Bound{Min: orb.Point{edges[0], edges[1]}, Max: orb.Point{edges[2], edges[3]}}
	}
	f, err := c.photonFilter()
	if err != nil {
		return dst, err
	}
	q.Keep = f.keeps
	places, err := c.search(&q)
	return answer.AppendPhoton(dst, places), err
}

func photonReverse(c *peerCall, dst []byte) ([]byte, error) {
	if err := c.photonKnows("radius", "distance_sort"); err != nil {
		return dst, err
	}
	at, err := c.position()
	if err != nil {
		return dst, err
	}
	radius, err := c.number("radius", 1, 1e-9, 5000) // kilometres
	if err != nil {
		return dst, err
	}
	limit, err := c.limit(1, geocoding.MaxLimit)
	if err != nil {
		return dst, err
	}
	f, err := c.photonFilter()
	if err != nil {
		return dst, err
	}
	places, err := c.reverse(&geocoding.Request{Point: at, Size: limit, MaxDistance: radius * 1000,
		Languages: c.photonLanguages(), Categories: f.categories(), Areas: f.onlyAreas(), Keep: f.keeps})
	return answer.AppendPhoton(dst, places), err
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

func (c *peerCall) photonFilter() (f photonFilter, err error) {
	for _, name := range c.query["layer"] {
		i := slices.Index(answer.LayerNames[:], name)
		if i < 0 {
			return f, peerErrorf("Unknown layer type. Available layers: [%s]", strings.Join(answer.LayerNames[:], ", "))
		}
		f.layers = append(f.layers, geocoding.Layer(i))
	}
	for _, given := range c.query["osm_tag"] {
		key, value, pair := strings.Cut(given, ":")
		key, notKey := strings.CutPrefix(key, "!")
		value, notValue := strings.CutPrefix(value, "!")
		t := tagFilter{key: strings.TrimSpace(key), value: strings.TrimSpace(value)}
		if pair == (t.value == "") || t.key+t.value == "" || strings.Contains(value, ":") {
			return f, peerErrorf("Invalid parameter 'osm_tag=%s': bad syntax for tag filter.", given)
		}
		if notKey || notValue && t.key == "" {
			f.exclude = append(f.exclude, t)
		} else {
			t.not = notValue
			f.include = append(f.include, t)
		}
	}
	return f, nil
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
