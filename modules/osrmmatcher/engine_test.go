package osrmmatcher_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// engine answers requests of the match service as OSRM does where all points lie on one road.
type engine struct {
	maxRadius float64 // of `--max-matching-radius`; 0 where it is not given
	maxSize   int     // of `--max-matching-size`; 0 where there is none
	roadless  bool    // there is no road near the points

	mu    sync.Mutex
	asked []string // the query of each request
}

// take returns what was asked since the last time.
func (e *engine) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	return asked
}

func (e *engine) serve(u *modulestest.Upstream) {
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.asked = append(e.asked, r.URL.RawQuery)
		e.mu.Unlock()
		status, body := e.match(strings.Count(r.URL.Path, ";")+1, r.URL.RawQuery)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
}

// match checks in the order in which src/engine/plugins/match.cpp does.
func (e *engine) match(points int, query string) (status int, body string) {
	if e.maxSize > 0 && points > e.maxSize {
		return 400, `{"code":"TooBig","message":"Too many trace coordinates"}`
	}
	for _, radius := range option(query, "radiuses") {
		if v, _ := strconv.ParseFloat(radius, 64); e.maxRadius > 0 && v > e.maxRadius {
			return 400, `{"code":"TooBig","message":"Radius search size is too large for map matching."}`
		}
	}
	if e.roadless {
		return 400, `{"code":"NoSegment","message":"Could not find a matching segment for any coordinate."}`
	}
	parts := make([]int, points)
	if times := option(query, "timestamps"); len(times) > 0 {
		parts = driven(times)
	}
	for _, part := range parts {
		if part >= 0 {
			return 200, made(parts)
		}
	}
	return 400, `{"code":"NoMatch","message":"Could not match the trace."}`
}

// option is what stands between the semicolons of an option.
func option(query, name string) []string {
	_, value, found := strings.Cut("&"+query, "&"+name+"=")
	if !found {
		return nil
	}
	value, _, _ = strings.Cut(value, "&")
	return strings.Split(value, ";")
}

// driven tells which points are on the drive, 0, and which are not, -1, as
// src/engine/routing_algorithms/map_matching.cpp has it: no road leads from one point to another of the same second,
// both are lost then, and the drive begins anew where no point is left to go on from.
func driven(times []string) (parts []int) {
	parts = make([]int, len(times))
	for i := range parts {
		parts[i] = -1
	}
	var open []int
	for i := range times {
		switch {
		case len(open) == 0:
			open = []int{i}
		case times[open[len(open)-1]] == times[i]:
			if open = open[:len(open)-1]; len(open) == 0 {
				open = []int{i}
			}
		default:
			open = append(open, i)
		}
	}
	if len(open) > 1 {
		for _, i := range open {
			parts[i] = 0
		}
	}
	return parts
}
