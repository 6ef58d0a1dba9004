package scripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// standin does what the program of that name would do for a script, as far as the script can tell; for any other name
// it reports false. Each writes down how it was called.
func standin(name string, args []string) bool {
	var run func(args []string) error
	switch name {
	case "osrm-extract", "osrm-partition", "osrm-customize", "valhalla_build_tiles":
		run = prepares
	case "valhalla_build_config":
		run = func(args []string) error {
			_, err := fmt.Printf(`{"listen": %q}`, args[slices.Index(args, "--httpd-service-listen")+1])
			return err
		}
	case "osrm-routed":
		run = func(args []string) error {
			ip, port := args[slices.Index(args, "--ip")+1], args[slices.Index(args, "--port")+1]
			return http.ListenAndServe(net.JoinHostPort(ip, port), answering("osrm/match_ok_1.json", askedOSRM))
		}
	case "valhalla_service":
		run = func([]string) error {
			text, err := os.ReadFile("valhalla.json")
			if err != nil {
				return err
			}
			var config struct{ Listen string }
			if err := json.Unmarshal(text, &config); err != nil {
				return err
			}
			return http.ListenAndServe(strings.TrimPrefix(config.Listen, "tcp://"),
				answering("valhalla/ok_route_osrm.json", askedValhalla))
		}
	case "docker":
		run = docker
	default:
		return false
	}
	calls, err := os.OpenFile(os.Getenv("STANDIN_CALLS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(calls, name, strings.Join(args, " "))
	}
	if err == nil {
		err = run(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name, err)
		os.Exit(1)
	}
	return true
}

// prepares is a program that reads the extract.
func prepares([]string) error {
	_, err := os.Stat("map.osm.pbf")
	return err
}

// docker runs the programs that are beside it, in the directory that is a container's /data.
func docker(args []string) error {
	if args[0] == "stop" {
		return nil
	}
	data, _, _ := strings.Cut(args[slices.Index(args, "-v")+1], ":")
	image := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "ghcr.io/") })
	args = args[image+1:]
	for i := range args {
		args[i] = strings.Replace(args[i], "0.0.0.0", "127.0.0.1", 1) // the container's own
	}
	if err := os.Chdir(data); err != nil {
		return err
	}
	return syscall.Exec(filepath.Join(os.Getenv("STANDIN_IMAGE"), args[0]), args, os.Environ())
}

// answering is a server that answers each question as a recorded one was, with the points of the question in the place
// of the recorded road: every point is on its road, and the drive goes straight from one to the next.
func answering(recorded string, asked func(*http.Request) (orb.LineString, error)) http.Handler {
	text, err := os.ReadFile(filepath.Join(os.Getenv("STANDIN_TESTDATA"), filepath.FromSlash(recorded)))
	if err != nil {
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		points, err := asked(r)
		if err != nil {
			http.Error(w, `{"code":"InvalidQuery"}`, http.StatusBadRequest)
			return
		}
		var exchange struct{ Body, Answer map[string]any }
		if err := json.Unmarshal(text, &exchange); err != nil {
			panic(err)
		}
		answer := exchange.Body
		if answer == nil {
			answer = exchange.Answer
		}
		first := answer["tracepoints"].([]any)[0].(map[string]any)
		var tracepoints []any
		for i, p := range points {
			t := map[string]any{}
			for key, value := range first {
				t[key] = value
			}
			t["location"], t["waypoint_index"] = p, i
			tracepoints = append(tracepoints, t)
		}
		answer["tracepoints"] = tracepoints
		answer["matchings"].([]any)[0].(map[string]any)["geometry"] = string(geo.AppendPolyline(nil, points, 1e6))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
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

// askedValhalla are the points of a request of trace_route, whose body may be a form's or JSON.
func askedValhalla(r *http.Request) (points orb.LineString, err error) {
	if r.URL.Path != "/trace_route" {
		return nil, fmt.Errorf("the path is %s", r.URL.Path)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if form, ok := bytes.CutPrefix(body, []byte("json=")); ok {
		text, err := url.QueryUnescape(string(form))
		if err != nil {
			return nil, err
		}
		body = []byte(text)
	}
	var question struct{ Shape []struct{ Lat, Lon float64 } }
	if err := json.Unmarshal(body, &question); err != nil {
		return nil, err
	}
	for _, p := range question.Shape {
		points = append(points, orb.Point{p.Lon, p.Lat})
	}
	return points, nil
}
