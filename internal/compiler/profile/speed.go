package profile

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// The range of the speeds of those whom limits concern, in km/h.
const (
	minSpeed = 5
	maxSpeed = 200
)

// speeds returns the free speed in km/h for both directions: the limit where there is one that concerns it, else what
// the kind of way suggests, neither faster than the surface and the like allow.
func (p *profile) speeds(t *tags.Set, w *way) (forward, backward uint8) {
	usual, least, most := p.byKind[w.number].speed, 1., float64(maxSpeed)
	if v, ok := p.services[t.Get(tags.Service)]; ok && w.class == mapdata.Service {
		usual = v
	}
	for _, c := range p.caps {
		if !t.Has(c.key) {
			continue // as most
		}
		if v, ok := c.speeds[t.Get(c.key)]; ok && (w.class != mapdata.Ferry || p.limited) {
			most = min(most, v)
		}
	}
	there, back := usual, usual
	if p.limited {
		least = minSpeed
		usual = limitOf(t, usual, tags.MaxspeedType, tags.SourceMaxspeed, tags.ZoneMaxspeed, tags.ZoneTraffic)
		usual = limitOf(t, usual, tags.Maxspeed)
		there, back = limitOf(t, usual, tags.MaxspeedForward), limitOf(t, usual, tags.MaxspeedBackward)
	}
	return uint8(math.Round(max(least, min(there, most)))), uint8(math.Round(max(least, min(back, most))))
}

// limitOf returns the lowest speed limit that some keys have, or what is usual where there is none.
func limitOf(t *tags.Set, usual float64, keys ...tags.Key) float64 {
	lowest := math.Inf(1)
	for _, key := range keys {
		if !t.Has(key) {
			continue
		}
		if v, ok := parseMaxspeed(t.Get(key)); ok {
			lowest = min(lowest, v)
		}
	}
	if math.IsInf(lowest, 1) {
		return usual
	}
	return lowest
}

// size is how wide or high a way must be: more than tooSmall metres. The first of the keys that has a size tells how
// wide or high it is.
type size struct {
	keys     []tags.Key
	tooSmall float64
}

// isTooBig says whether it does not fit through a way.
func (p *profile) isTooBig(t *tags.Set) bool {
	for _, s := range p.sizes {
		for _, key := range s.keys {
			if !t.Has(key) {
				continue
			}
			if m, ok := metres(t.Get(key)); ok {
				if m <= s.tooSmall {
					return true
				}
				break
			}
		}
	}
	return false
}
