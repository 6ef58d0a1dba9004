package geocoding

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() {
	registerPeer(&nominatimAPI, func() (caddyhttp.MiddlewareHandler, *Peer) {
		h := &Nominatim{Peer{api: &nominatimAPI}}
		return h, &h.Peer
	})
}

// Nominatim answers Nominatim's `GET /search`, `/reverse` and `/status`, so that applications for Nominatim need only
// another address. What it knows: docs/build/photon-nominatim.md.
type Nominatim struct{ Peer }

// CaddyModule returns the Caddy module information.
func (*Nominatim) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_nominatim",
		New: func() caddy.Module { return &Nominatim{Peer{api: &nominatimAPI}} }}
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

var nominatimAPI = peerAPI{"maps_nominatim", map[string]func(c *peerCall, dst []byte) ([]byte, error){
	"/search": nominatimSearch, "/reverse": nominatimReverse, "/status": nominatimStatus,
}, func(message string) any {
	return map[string]any{"error": map[string]any{"code": http.StatusBadRequest, "message": message}}
}}

const nominatimLimit = 40

// nominatimAnswer reads what an answer should contain.
func (c *peerCall) nominatimAnswer(address string) (a answer.Nominatim, err error) {
	if a.Format = c.query.Get("format"); a.Format == "" {
		a.Format = answer.NominatimFormats[0]
	}
	if !slices.Contains(answer.NominatimFormats, a.Format) {
		return a, peerErrorf("Parameter 'format' must be one of: %s", strings.Join(answer.NominatimFormats, ", "))
	}
	a.Address = c.flag("addressdetails", address)
	a.Names, a.Extras = c.flag("namedetails", "0"), c.flag("extratags", "0")
	return a, nil
}

// flag reads a parameter: everything but 0 is true.
func (c *peerCall) flag(name, preset string) bool {
	given := c.query.Get(name)
	if given == "" {
		given = preset
	}
	return given != "0"
}

func nominatimSearch(c *peerCall, dst []byte) ([]byte, error) {
	a, err := c.nominatimAnswer("0")
	if err != nil {
		return dst, err
	}
	q := geocoding.Query{Languages: c.languages("accept-language"), Countries: c.countries("countrycodes")}
	var parts []string
	for _, name := range [...]string{"amenity", "street", "city", "county", "state", "postalcode", "country"} {
		if part := strings.TrimSpace(c.query.Get(name)); part != "" {
			parts = append(parts, part)
		}
	}
	q.Text = strings.Join(parts, ", ")
	switch {
	case c.query.Has("q") && len(parts) > 0:
		return dst, peerError("Structured query parameters(amenity, street, city, county, state, postalcode, country) " +
			"cannot be used together with 'q' parameter.")
	case c.query.Has("q"):
		q.Text = c.query.Get("q")
	case len(parts) == 0:
		return dst, peerError("Nothing to search for.")
	}
	if err = c.nominatimViewbox(&q); err != nil {
		return dst, err
	}
	layers, err := c.nominatimLayers()
	if err != nil {
		return dst, err
	}
	of, typed := featureTypes[c.query.Get("featureType")]
	q.Keep = func(category, kind string, layer geocoding.Layer) bool {
		group := nominatimLayer(category, kind, layer)
		return (len(layers) == 0 && group != "railway" || slices.Contains(layers, group)) &&
			(!typed || layer >= of[0] && layer <= of[1])
	}
	wanted, err := c.limit(10, nominatimLimit)
	if err != nil || strings.TrimSpace(q.Text) == "" {
		return a.Append(dst, nil, false), err
	}
	excluded := strings.Split(c.query.Get("exclude_place_ids"), ",")
	q.Limit = min(wanted+len(excluded), geocoding.MaxLimit)
	places, err := c.search(&q)
	places = slices.DeleteFunc(places, func(p geocoding.Place) bool {
		return slices.Contains(excluded, strconv.FormatInt(answer.NominatimID(&p), 10))
	})
	return a.Append(dst, places[:min(len(places), wanted)], false), err
}

// nominatimViewbox reads the box in which results are wanted: only those with bounded=1, else rather those.
func (c *peerCall) nominatimViewbox(q *geocoding.Query) error {
	given := c.query.Get("viewbox")
	if given == "" {
		return nil
	}
	edges, ok := numbers(given, 1e9, 1e9, 1e9, 1e9)
	if !ok {
		return peerError("Parameter 'viewbox' must be four numbers: x1,y1,x2,y2.")
	}
	for i, limit := range [...]float64{180, 90, 180, 90} {
		edges[i] = max(-limit, min(edges[i], limit))
	}
	b := orb.MultiPoint{{edges[0], edges[1]}, {edges[2], edges[3]}}.Bound()
	if c.flag("bounded", "0") {
		q.Bound = &b
		return nil
	}
	middle := b.Center()
	q.Near = &middle
	q.Zoom = max(1, min(math.Log2(360/max(b.Max[0]-b.Min[0], 1e-3)), maxZoom))
	return nil
}

// featureTypes are the largest and the smallest layers of each featureType.
var featureTypes = map[string][2]geocoding.Layer{
	"country": {geocoding.LayerCountry, geocoding.LayerCountry}, "state": {geocoding.LayerState, geocoding.LayerState},
	"city": {geocoding.LayerCity, geocoding.LayerCity}, "settlement": {geocoding.LayerState, geocoding.LayerDistrict},
}

// nominatimLayers reads the layers that are asked for; empty for the default.
func (c *peerCall) nominatimLayers() ([]string, error) {
	given := c.query.Get("layer")
	if given == "" {
		return nil, nil
	}
	layers, all := strings.Split(given, ","), []string{"address", "poi", "railway", "natural", "manmade"}
	for _, l := range layers {
		if !slices.Contains(all, l) {
			return nil, peerErrorf("Parameter 'layer' must be a list of: %s", strings.Join(all, ", "))
		}
	}
	return layers, nil
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

// nominatimZooms are the smallest layers of zooms.
var nominatimZooms = [...]geocoding.Layer{
	geocoding.LayerCountry, geocoding.LayerCountry, geocoding.LayerCountry, geocoding.LayerCountry, geocoding.LayerCountry,
	geocoding.LayerState, geocoding.LayerCounty, geocoding.LayerCounty, geocoding.LayerCounty, geocoding.LayerCounty,
	geocoding.LayerCity, geocoding.LayerCity, geocoding.LayerCity, geocoding.LayerDistrict, geocoding.LayerLocality,
	geocoding.LayerLocality, geocoding.LayerStreet, geocoding.LayerStreet, geocoding.LayerHouse,
}

func nominatimReverse(c *peerCall, dst []byte) ([]byte, error) {
	a, err := c.nominatimAnswer("1")
	if err != nil {
		return dst, err
	}
	at, err := c.position()
	if err != nil {
		return dst, err
	}
	zoom, err := c.number("zoom", 18, math.Inf(-1), math.Inf(1))
	if err != nil {
		return dst, err
	}
	layers, err := c.nominatimLayers()
	if err != nil {
		return dst, err
	}
	if len(layers) == 0 {
		layers = []string{"address", "poi"}
	}
	least := nominatimZooms[int(max(0, min(zoom, float64(len(nominatimZooms)-1))))]
	// Streets, houses and points of interest come before the places around them.
	req := geocoding.Request{Point: at, Size: 1, MaxDistance: geocoding.DefaultMaxDistance,
		Languages: c.languages("accept-language"), Shapes: c.flag("polygon_geojson", "0")}
	req.Keep = func(category, kind string, layer geocoding.Layer) bool {
		return (layer == geocoding.LayerOther || layer >= geocoding.LayerStreet) &&
			answer.PeerLayer(category, kind, layer) <= least && slices.Contains(layers, nominatimLayer(category, kind, layer))
	}
	var places []geocoding.Place
	if least >= geocoding.LayerStreet {
		if places, err = c.reverse(&req); err != nil {
			return dst, err
		}
	}
	if len(places) == 0 && slices.Contains(layers, "address") {
		req.Areas = true
		req.Keep = func(_, _ string, layer geocoding.Layer) bool {
			return layer != geocoding.LayerOther && layer <= min(least, geocoding.LayerLocality)
		}
		places, err = c.reverse(&req)
	}
	return a.Append(dst, places, true), err
}

func nominatimStatus(c *peerCall, dst []byte) ([]byte, error) {
	if c.query.Get("format") == "json" {
		return append(dst, `{"status":0,"message":"OK"}`...), nil
	}
	c.media = "text/plain; charset=utf-8"
	return append(dst, "OK"...), nil
}
