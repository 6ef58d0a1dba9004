package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() { subcommands = append(subcommands, newMatchCmd) }

// Limits of a trace on the command line, where no other request waits.
const (
	maxTraceBytes  = 256 << 20
	maxTracePoints = 1_000_000
	maxTraceWork   = 1 << 40
)

func newMatchCmd() *cobra.Command {
	o := matchOptions{}
	cmd := &cobra.Command{
		Use:   "match <file> <trace>... [--profile car] [--radius 1] [--max-radius 100] [--details]",
		Short: "Matches recorded traces on a region file",
		Long: `
Matches traces to the roads of a region file, and prints each drive as a GeoJSON
Feature on a line. A trace is GPX, GeoJSON, CSV or the JSON of a request; - reads
standard input. With several traces, each Feature has its file's name as id, and
one that has no drive is reported while the others go on.`,
		Example: `  caddy maps match delaware.region drive.gpx
  caddy maps match delaware.region monday/*.gpx > monday.geojsonl
  caddy maps match delaware.region drive.csv --details
  caddy maps match delaware.region walk.gpx --profile foot
  caddy maps match delaware.region - --radius 10 < drive.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("a region file and a trace are needed")
			}
			if !(o.maxRadius > 0) {
				return usagef("--max-radius: %v is not a positive number of metres", o.maxRadius)
			}
			given := cmd.Flags().Changed
			o.radiusGiven, o.detailsGiven, o.profileGiven = given("radius"), given("details"), given("profile")
			if err := checkRadius(o.radius, o.maxRadius); o.radiusGiven && err != nil {
				return usagef("--%w", err)
			}
			var err error
			if o.profile, err = parseProfile(o.profileName); err != nil {
				return usageError{err}
			}
			for _, name := range args[1:] {
				if _, err := os.Stat(name); name != "-" && err != nil {
					return err // before the first trace is matched
				}
			}
			file, err := region.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Release()
			networks, err := matching.OpenNetworks(file)
			if err != nil {
				return err
			}
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			m := &fileMatcher{matching.NewLocal(networks, matching.Options{MaxWork: maxTraceWork}), file}
			return interrupted(o.matchAll(ctx, cmd, m, args[1:]))
		},
	}
	cmd.Flags().Bool("json", true, "Print GeoJSON, which is the only format")
	cmd.Flags().StringVar(&o.profileName, "profile", matching.Car.String(),
		"How the traces were travelled: car, bicycle or foot")
	cmd.Flags().Float64Var(&o.radius, "radius", matching.DefaultRadius,
		"Where the search for roads starts, in metres; a hint, no limit")
	cmd.Flags().Float64Var(&o.maxRadius, "max-radius", matching.DefaultMaxRadius,
		"How far any point may be from its road, in metres")
	cmd.Flags().BoolVar(&o.details, "details", false,
		"Add confidence, duration, OpenStreetMap ways and what became of each point")
	return cmd
}

// fileMatcher matches on a region file. For a trace without a route, its error says whether the trace is outside the
// region.
type fileMatcher struct {
	matching.Matcher
	file *region.File
}

// Match implements matching.Matcher.
func (m *fileMatcher) Match(ctx context.Context, req *matching.Request) (result *matching.Result, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	result, err = m.Matcher.Match(ctx, req)
	if errors.Is(err, matching.ErrNoRoute) {
		coverage := matching.CoverageOf(req.Points)
		coverage.Add(m.file.Covers)
		err = coverage.NoRoute()
	}
	return result, err
}

type matchOptions struct {
	profileName                             string
	profile                                 matching.Profile
	radius, maxRadius                       float64
	details                                 bool
	radiusGiven, detailsGiven, profileGiven bool
}

func parseProfile(name string) (matching.Profile, error) {
	profile, err := matching.ParseProfile(name)
	if err != nil {
		return 0, fmt.Errorf("profile: %w", err)
	}
	return profile, nil
}

func checkRadius(radius, limit float64) error {
	if !(radius > 0 && radius <= limit) {
		return fmt.Errorf("radius: must be a number of metres, more than 0 and at most %v", limit)
	}
	return nil
}

// matchAll matches traces one after another and prints their drives.
func (o *matchOptions) matchAll(ctx context.Context, cmd *cobra.Command, m matching.Matcher, names []string) error {
	if len(names) == 1 {
		feature, err := o.match(ctx, cmd.InOrStdin(), m, names[0])
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(append(feature, '\n'))
		return err
	}
	show := newProgress(cmd.ErrOrStderr(), nil)
	defer show.end()
	failed := 0
	for i, name := range names {
		show.update("matching", int64(i), int64(len(names)))
		feature, err := o.match(ctx, cmd.InOrStdin(), m, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			show.line(err.Error())
			continue
		}
		if _, err := cmd.OutOrStdout().Write(append(withID(feature, name), '\n')); err != nil {
			return err
		}
	}
	show.update("matching", int64(len(names)), int64(len(names)))
	if failed > 0 {
		return fmt.Errorf("%d of %d traces have no drive", failed, len(names))
	}
	return nil
}

// withID adds an id to a Feature.
func withID(feature []byte, id string) []byte {
	const head = `{"type":"Feature",`
	text, _ := json.Marshal(id) // never fails for a string
	return slices.Concat([]byte(head), []byte(`"id":`), text, []byte{','}, feature[len(head):])
}

// match returns the matched drive as a GeoJSON Feature. Its errors name the trace.
func (o *matchOptions) match(ctx context.Context, stdin io.Reader, m matching.Matcher,
	name string) (feature []byte, err error) {
	defer func() {
		switch {
		case err != nil && name == "-":
			err = fmt.Errorf("standard input: %w", err)
		case err != nil:
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	doc, err := readTrace(ctx, stdin, name)
	if err != nil {
		return nil, err
	}
	radius, details := o.radius, o.details
	if doc.Radius != nil && !o.radiusGiven {
		radius = *doc.Radius
	}
	if err := checkRadius(radius, o.maxRadius); err != nil {
		return nil, err
	}
	if doc.Details != nil && !o.detailsGiven {
		details = *doc.Details
	}
	profile := o.profile
	if doc.Profile != nil && !o.profileGiven {
		if profile, err = parseProfile(*doc.Profile); err != nil {
			return nil, err
		}
	}
	result, err := m.Match(ctx, &matching.Request{
		Points: doc.Points, Profile: profile, Radius: radius, MaxRadius: o.maxRadius, Details: details,
	})
	if err != nil {
		return nil, err
	}
	return answer.AppendMatchFeature(nil, result, details), nil
}

// readTrace reads a file, or standard input for -. It may be a pipe whose writer is slow, so reading ends with ctx.
func readTrace(ctx context.Context, stdin io.Reader, name string) (trace.Document, error) {
	var text []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, err = readTraceText(stdin, name)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return trace.Document{}, ctx.Err()
	}
	if err != nil {
		return trace.Document{}, err
	}
	return trace.Parse(nil, text, maxTracePoints, nil)
}

func readTraceText(stdin io.Reader, name string) ([]byte, error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, errors.Unwrap(err) // the name is known
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTraceBytes+1))
	if err == nil && len(text) > maxTraceBytes {
		err = fmt.Errorf("larger than %d bytes", maxTraceBytes)
	}
	return text, err
}
