package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/answer"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

func init() { subcommands = append(subcommands, newMatchCmd) }

// Limits of a trace on the command line, where nobody else is kept waiting.
const (
	maxTraceBytes  = 256 << 20
	maxTracePoints = 1_000_000
)

func newMatchCmd() *cobra.Command {
	var radius, maxRadius float64
	var details bool
	cmd := &cobra.Command{
		Use:   "match <file> <trace> [--radius 1] [--max-radius 100] [--details]",
		Short: "Finds the drive behind a recorded trace, on a region file",
		Long: `
Matches one trace to the roads of a region file, without a server, and prints the
drive as a GeoJSON Feature. The trace is GPX, a GeoJSON LineString or Feature, or
the JSON of a request; - reads standard input.`,
		Example: `  caddy maps match delaware.region drive.gpx
  caddy maps match delaware.region - --radius 10 < drive.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("a region file and a trace are needed")
			}
			if !(maxRadius > 0) {
				return errors.New("max-radius: must be a positive number of metres")
			}
			doc, err := readTrace(cmd.InOrStdin(), args[1])
			if err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("radius"):
			case doc.Radius != nil:
				radius = *doc.Radius
			default:
				radius = matching.DefaultRadius
			}
			if !(radius > 0 && radius <= maxRadius) {
				return fmt.Errorf("radius: must be a number of metres, more than 0 and at most %v", maxRadius)
			}
			if doc.Details != nil && !cmd.Flags().Changed("details") {
				details = *doc.Details
			}
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			result, err := match(ctx, args[0], &matching.Request{
				Points: doc.Points, Radius: radius, MaxRadius: maxRadius, Details: details,
			})
			if err != nil {
				return interrupted(err)
			}
			_, err = cmd.OutOrStdout().Write(append(answer.AppendMatchFeature(nil, result, details), '\n'))
			return err
		},
	}
	cmd.Flags().Float64Var(&radius, "radius", matching.DefaultRadius, "Where the search for roads starts, in metres; a hint, no limit")
	cmd.Flags().Float64Var(&maxRadius, "max-radius", matching.DefaultMaxRadius, "How far any point may be from its road, in metres")
	cmd.Flags().BoolVar(&details, "details", false, "Add confidence, duration and what became of each point")
	return cmd
}

func readTrace(stdin io.Reader, name string) (trace.Document, error) {
	in, shown := stdin, "standard input"
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return trace.Document{}, err
		}
		defer file.Close()
		in, shown = file, name
	}
	text, err := io.ReadAll(io.LimitReader(in, maxTraceBytes+1))
	if err != nil {
		return trace.Document{}, err
	}
	if len(text) > maxTraceBytes {
		return trace.Document{}, fmt.Errorf("%s: larger than %d bytes", shown, maxTraceBytes)
	}
	doc, err := trace.Parse(text, maxTracePoints)
	if err != nil {
		return trace.Document{}, fmt.Errorf("%s: %w", shown, err)
	}
	return doc, nil
}

func match(ctx context.Context, path string, req *matching.Request) (*matching.Result, error) {
	file, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Release()
	graph, err := roadgraph.Open(file)
	if err != nil {
		return nil, err
	}
	return matching.New(graph, matching.Options{}).Match(ctx, req)
}
