package tiles

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/tiles/network"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// tileJSON is a TileJSON 3.0.0 document (https://github.com/mapbox/tilejson-spec/tree/master/3.0.0).
type tileJSON struct {
	TileJSON     string               `json:"tilejson"`
	Name         string               `json:"name"`
	Attribution  string               `json:"attribution"`
	Scheme       string               `json:"scheme"`
	Tiles        []string             `json:"tiles"`
	MinZoom      uint8                `json:"minzoom"`
	MaxZoom      uint8                `json:"maxzoom"`
	Bounds       [4]float64           `json:"bounds"` // west, south, east, north
	Center       [3]float64           `json:"center"` // longitude, latitude, zoom
	VectorLayers []schema.VectorLayer `json:"vector_layers"`
}

// describe returns a TileJSON document or a style. rest is the request's path below the prefix.
func (h *Handler) describe(r *http.Request, a *address, from *regions.Region, rest string) ([]byte, error) {
	if a.kind != kindMap && h.maxZoom < network.MinZoom {
		return nil, errNoNetwork
	}
	described, err := from.Describe()
	if err != nil {
		return nil, err
	}
	if a.kind == kindMap {
		p, err := from.Pin()
		if err != nil {
			return nil, err
		}
		defer p.Release()
		if p.Map == nil {
			return nil, errNoMap
		}
	}
	base := baseURL(r, rest) + "/" + url.PathEscape(a.region)
	if a.what == styleOf {
		s := newStyle(a.region, app.WithPublishableKey(r.Context(), base+".json"))
		lon, lat, zoom := pmtiles.Center(described.Bounds, 0, h.maxZoom)
		s.Center, s.Zoom = [2]float64{lon, lat}, float64(zoom)
		return json.Marshal(s)
	}
	t := tileJSON{TileJSON: "3.0.0", Name: a.region, Attribution: described.Attribution, Scheme: "xyz",
		MaxZoom: h.maxZoom, VectorLayers: schema.Layers()}
	if a.kind != kindMap {
		base += "/network/" + a.profile().String()
		t.MinZoom, t.VectorLayers = network.MinZoom, network.Layers()
	}
	t.VectorLayers = schema.UpTo(h.maxZoom, t.VectorLayers)
	t.Tiles = []string{app.WithPublishableKey(r.Context(), base+"/{z}/{x}/{y}.mvt")}
	t.setBounds(described.Bounds)
	return json.Marshal(t)
}

func (t *tileJSON) setBounds(b region.Bounds) {
	lon, lat, zoom := pmtiles.Center(b, t.MinZoom, t.MaxZoom)
	t.Bounds = [4]float64{b.MinLon, b.MinLat, b.MaxLon, b.MaxLat}
	t.Center = [3]float64{lon, lat, float64(zoom)}
}
