package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// standin does what the program of that name does for a script, as far as the script can tell. For any other name it
// reports false. Each notes how it was called.
func standin(name string, args []string) bool {
	if !slices.Contains(osrmPrograms, name) {
		return false
	}
	calls, err := os.OpenFile(os.Getenv("STANDIN_CALLS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(calls, name, strings.Join(args, " "))
	}
	switch {
	case err != nil:
	case name == "osrm-routed":
		ip, port := args[slices.Index(args, "--ip")+1], args[slices.Index(args, "--port")+1]
		err = http.ListenAndServe(net.JoinHostPort(ip, port), http.HandlerFunc(answerAsOSRM))
	default: // a program that reads the extract
		_, err = os.Stat("map.osm.pbf")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	return true
}

// answerAsOSRM answers a path like /match/v1/driving/-75.52,39.16;-75.51,39.16 as OSRM did once, with every point on its
// road, and straight lines between them.
func answerAsOSRM(w http.ResponseWriter, r *http.Request) {
	points, err := askedOSRM(r)
	if err != nil {
		http.Error(w, `{"code":"InvalidQuery"}`, http.StatusBadRequest)
		return
	}
	text, err := os.ReadFile(os.Getenv("STANDIN_ANSWER"))
	if err != nil {
		panic(err)
	}
	var recorded struct{ Body map[string]any }
	if err := json.Unmarshal(text, &recorded); err != nil {
		panic(err)
	}
	first := recorded.Body["tracepoints"].([]any)[0].(map[string]any)
	var tracepoints []any
	for i, p := range points {
		t := map[string]any{}
		for key, value := range first {
			t[key] = value
		}
		t["location"], t["waypoint_index"] = p, i
		tracepoints = append(tracepoints, t)
	}
	recorded.Body["tracepoints"] = tracepoints
	recorded.Body["matchings"].([]any)[0].(map[string]any)["geometry"] = string(geo.AppendPolyline(nil, points, 1e6))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(recorded.Body)
}

// askedOSRM are the points of a path like /match/v1/driving/-75.52,39.16;-75.51,39.16.
func askedOSRM(r *http.Request) (points orb.LineString, err error) {
	list, ok := strings.CutPrefix(r.URL.Path, "/match/v1/driving/")
	if !ok {
		return nil, fmt.Errorf("the path is %s", r.URL.Path)
	}
	if encoded, ok := strings.CutPrefix(list, "polyline6("); ok {
		return geo.DecodePolyline([]byte(strings.TrimSuffix(encoded, ")")), 1e6)
	}
	for pair := range strings.SplitSeq(list, ";") {
		lon, lat, _ := strings.Cut(pair, ",")
		var p orb.Point
		if p[0], err = strconv.ParseFloat(lon, 64); err != nil {
			return nil, err
		}
		if p[1], err = strconv.ParseFloat(lat, 64); err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}
