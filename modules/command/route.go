package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paulmach/orb"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() { subcommands = append(subcommands, newRouteCmd) }

func newRouteCmd() *cobra.Command {
	var (
		profile, language string
		asJSON, asGeoJSON bool
		alternatives      int
		parsed            matching.Profile
	)
	cmd := &cobra.Command{
		Use: "route <file> <lat>,<lon> <lat>,<lon>... [--profile car] [--alternatives 0] [--language en] " +
			"[--json|--geojson]",
		Short: "Finds a route on a region file",
		Long: `
Finds the fastest route through two or more positions on a region file, as the
server would, and prints its length, its time and its steps.`,
		Example: `  caddy maps route delaware.region 39.158,-75.524 39.745,-75.546
  caddy maps route delaware.region 39.158,-75.524 38.78,-75.15 --profile bicycle
  caddy maps route delaware.region 39.158,-75.524 39.745,-75.546 --geojson > route.geojson`,
		RunE: withNegativeNumbers(func(cmd *cobra.Command, args []string) (err error) {
			if len(args) < 3 {
				return usagef("a region file and at least two positions are needed")
			}
			if asJSON && asGeoJSON {
				return usagef("--json and --geojson exclude each other")
			}
			if alternatives < 0 || alternatives > 3 {
				return usagef("--alternatives: %d is not a whole number from 0 to 3", alternatives)
			}
			if parsed, err = parseProfile(profile); err != nil {
				return usageError{err}
			}
			req := &routing.Request{Costs: routing.Costs{Profile: 1 << parsed}, Alternatives: alternatives, Steps: true,
				Language: language}
			for _, arg := range args[1:] {
				at, err := parsePosition(arg)
				if err != nil {
					return err
				}
				req.Waypoints = append(req.Waypoints, routing.At(at))
			}
			result, err := findRoute(cmd, args[0], req)
			if err != nil {
				return interrupted(err)
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				_, err = out.Write(append(answer.AppendRoutes(nil, result, false), '\n'))
			case asGeoJSON:
				_, err = out.Write(append(answer.AppendRouteFeatures(nil, result), '\n'))
			default:
				for i := range result.Routes {
					if _, err = fmt.Fprint(out, describeRoute(&result.Routes[i])); err != nil {
						break
					}
				}
			}
			return err
		}),
		DisableFlagParsing: true, // withNegativeNumbers does it
	}
	cmd.Flags().StringVar(&profile, "profile", matching.Car.String(), "How to travel: car, bicycle or foot")
	cmd.Flags().StringVar(&language, "language", "en", "Language of the steps: en, de, es, fr or pt")
	cmd.Flags().IntVar(&alternatives, "alternatives", 0, "Largest number of further routes, 0 to 3")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print the JSON of /api/v1/route")
	cmd.Flags().BoolVar(&asGeoJSON, "geojson", false, "Print a GeoJSON FeatureCollection")
	return cmd
}

func parsePosition(arg string) (orb.Point, error) {
	first, second, ok := strings.Cut(arg, ",")
	if !ok {
		return orb.Point{}, usagef("%q is not a position: write latitude,longitude", arg)
	}
	lat, err := parseCoordinate("lat", strings.TrimSpace(first), 90)
	if err != nil {
		return orb.Point{}, err
	}
	lon, err := parseCoordinate("lon", strings.TrimSpace(second), 180)
	return orb.Point{lon, lat}, err
}

func findRoute(cmd *cobra.Command, path string, req *routing.Request) (*routing.Result, error) {
	ctx, stop := untilInterrupt(cmd.Context())
	defer stop()
	file, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Release()
	networks, err := matching.OpenNetworks(file)
	if err != nil {
		return nil, err
	}
	engine := routing.NewEngine(file, networks[:]...)
	if !engine.Routes(req.Profile) {
		return nil, fmt.Errorf("%s has no routes; build it again without --no-routes", path)
	}
	result, err := engine.Route(ctx, req)
	if segment, ok := errors.AsType[*routing.SegmentError](err); ok {
		p := req.Waypoints[segment.Waypoint].Location
		return nil, fmt.Errorf("there is no road within %v m of %v,%v", segment.Radius, p.Lat(), p.Lon())
	}
	return result, err
}

// describeRoute returns a route as lines of text: its length and time, then one line for each step.
func describeRoute(r *routing.Route) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", distanceText(r.Distance), durationText(r.Duration))
	for i := range r.Legs {
		for k := range r.Legs[i].Steps {
			s := &r.Legs[i].Steps[k]
			fmt.Fprintf(&b, "%9s  %s\n", distanceText(s.Distance), s.Instruction)
		}
	}
	return b.String()
}

func distanceText(metres float64) string {
	if metres < 1000 {
		return fmt.Sprintf("%.0f m", metres)
	}
	return fmt.Sprintf("%.1f km", metres/1000)
}

func durationText(seconds float64) string {
	minutes := int(seconds/60 + 0.5)
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
}
