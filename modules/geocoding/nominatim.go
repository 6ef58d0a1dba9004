package geocoding

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() { register(nominatimAPI.directive, func() handler { return newNominatim() }) }

// Nominatim answers Nominatim's `GET /search`, `/reverse` and `/status`, so that applications for Nominatim need only
// another address. What it knows: docs/build/photon-nominatim.md.
type Nominatim struct{ Peer }

func newNominatim() *Nominatim { return &Nominatim{Peer{api: &nominatimAPI}} }

// CaddyModule returns the Caddy module information.
func (*Nominatim) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_nominatim", New: func() caddy.Module { return newNominatim() }}
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_nominatim [<matcher>] {
//	    prefix   <path>
//	    geocoder <module> [<arguments...>]
//	    public
//	}
//
// `geocoder` may be repeated. Searches need the scope GEOCODING, `/reverse` REVERSEGEOCODING. Example:
//
//	handle_path /nominatim/* {
//	    maps_auth *
//	    maps_nominatim {
//	        geocoder local delaware
//	    }
//	}
func (h *Nominatim) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return h.unmarshal(d, nil) }

var nominatimAPI = peerAPI{"maps_nominatim", map[string]func(*peerCall) any{
	"/search": nominatimSearch, "/reverse": nominatimReverse,
	"/status": func(c *peerCall) any {
		if c.query.Get("format") == "json" {
			return map[string]any{"status": 0, "message": "OK"}
		}
		return "OK"
	},
}, func(message string) any {
	return map[string]any{"error": map[string]any{"code": http.StatusBadRequest, "message": message}}
}}

// nominatimAnswer reads what an answer should contain.
func (c *peerCall) nominatimAnswer(address string) answer.Nominatim {
	format := cmp.Or(c.query.Get("format"), answer.NominatimFormats[0])
	if !slices.Contains(answer.NominatimFormats, format) {
		c.fail("Parameter 'format' must be one of: %s", strings.Join(answer.NominatimFormats, ", "))
	}
	return answer.Nominatim{Format: format, Address: c.flag("addressdetails", address),
		Names: c.flag("namedetails", "0"), Extras: c.flag("extratags", "0")}
}

// flag reads a parameter: everything but 0 is true.
func (c *peerCall) flag(name, preset string) bool { return cmp.Or(c.query.Get(name), preset) != "0" }

func nominatimSearch(c *peerCall) any {
	a := c.nominatimAnswer("0")
	var parts []string
	for _, name := range [...]string{"amenity", "street", "city", "county", "state", "postalcode", "country"} {
		if part := strings.TrimSpace(c.query.Get(name)); part != "" {
			parts = append(parts, part)
		}
	}
	q := geocoding.Query{Text: cmp.Or(c.query.Get("q"), strings.Join(parts, ", ")), Limit: c.limit(10, 40),
		Languages: c.languages("accept-language"), Countries: c.countries("countrycodes")}
	if c.query.Has("q") && len(parts) > 0 {
		c.fail("Structured query parameters(amenity, street, city, county, state, postalcode, country) " +
			"cannot be used together with 'q' parameter.")
	} else if !c.query.Has("q") && len(parts) == 0 {
		c.fail("Nothing to search for.")
	}
	c.nominatimViewbox(&q)
	layers := c.nominatimLayers()
	of, typed := featureTypes[c.query.Get("featureType")]
	q.Keep = func(category, kind string, layer geocoding.Layer) bool {
		group := nominatimLayer(category, kind, layer)
		return (len(layers) == 0 && group != "railway" || slices.Contains(layers, group)) &&
			(!typed || layer >= of[0] && layer <= of[1])
	}
	if strings.TrimSpace(q.Text) == "" {
		return a.List(nil)
	}
	return a.List(c.search(&q))
}

// nominatimViewbox reads the box in which results are wanted: only those with bounded=1, else rather those.
func (c *peerCall) nominatimViewbox(q *geocoding.Query) {
	given := c.query.Get("viewbox")
	if given == "" {
		return
	}
	edges, ok := numbers(given, 1e9, 1e9, 1e9, 1e9)
	if !ok {
		c.fail("Parameter 'viewbox' must be four numbers: x1,y1,x2,y2.")
		return
	}
	for i, limit := range [...]float64{180, 90, 180, 90} {
		edges[i] = max(-limit, min(edges[i], limit))
	}
	b := orb.MultiPoint{orb.Point(edges[:2]), orb.Point(edges[2:])}.Bound()
	if c.flag("bounded", "0") {
		q.Bound = &b
		return
	}
	middle := b.Center()
	q.Near = &middle
	q.Zoom = max(1, min(math.Log2(360/max(b.Max[0]-b.Min[0], 1e-3)), maxZoom))
}

// featureTypes are the largest and the smallest layers of each featureType.
var featureTypes = map[string][2]geocoding.Layer{
	"country": {geocoding.LayerCountry, geocoding.LayerCountry}, "state": {geocoding.LayerState, geocoding.LayerState},
	"city": {geocoding.LayerCity, geocoding.LayerCity}, "settlement": {geocoding.LayerState, geocoding.LayerDistrict},
}

// nominatimLayers reads the layers that are asked for; none for the default.
func (c *peerCall) nominatimLayers() (layers []string) {
	all := []string{"address", "poi", "railway", "natural", "manmade"}
	if given := c.query.Get("layer"); given != "" {
		layers = strings.Split(given, ",")
	}
	if slices.ContainsFunc(layers, func(l string) bool { return !slices.Contains(all, l) }) {
		c.fail("Parameter 'layer' must be a list of: %s", strings.Join(all, ", "))
	}
	return layers
}

// nominatimLayer returns Nominatim's layer of a feature.
func nominatimLayer(category, kind string, layer geocoding.Layer) string {
	switch {
	case layer != geocoding.LayerOther:
		return "address"
	case geocoding.IsPOI(category, kind):
		return "poi"
	case category == "railway":
		return "railway"
	case category == "man_made":
		return "manmade"
	}
	return "natural"
}

// nominatimZooms are the largest zooms at which an answer is no smaller than a layer.
var nominatimZooms = [...]struct {
	zoom float64
	geocoding.Layer
}{{4, geocoding.LayerCountry}, {5, geocoding.LayerState}, {9, geocoding.LayerCounty}, {12, geocoding.LayerCity},
	{13, geocoding.LayerDistrict}, {15, geocoding.LayerLocality}, {17, geocoding.LayerStreet}}

func nominatimReverse(c *peerCall) any {
	a := c.nominatimAnswer("1")
	at, zoom, layers := c.position(), c.number("zoom", 18, math.Inf(-1), math.Inf(1)), c.nominatimLayers()
	if len(layers) == 0 {
		layers = []string{"address", "poi"}
	}
	least := geocoding.LayerHouse
	for _, z := range slices.Backward(nominatimZooms[:]) {
		if math.Floor(zoom) <= z.zoom {
			least = z.Layer
		}
	}
	// Streets, houses and points of interest come before the places around them.
	req := geocoding.Request{Point: at, Size: 1, MaxDistance: geocoding.DefaultMaxDistance,
		Languages: c.languages("accept-language"), Shapes: c.flag("polygon_geojson", "0")}
	req.Keep = func(category, kind string, layer geocoding.Layer) bool {
		return (layer == geocoding.LayerOther || layer >= geocoding.LayerStreet) &&
			answer.PeerLayer(category, kind, layer) <= least && slices.Contains(layers, nominatimLayer(category, kind, layer))
	}
	var places []geocoding.Place
	if least >= geocoding.LayerStreet {
		places = c.reverse(&req)
	}
	if len(places) == 0 && slices.Contains(layers, "address") {
		req.Areas = true
		req.Keep = func(_, _ string, layer geocoding.Layer) bool {
			return layer != geocoding.LayerOther && layer <= min(least, geocoding.LayerLocality)
		}
		places = c.reverse(&req)
	}
	return a.One(places)
}
