package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/compiler"
)

func init() { subcommands = append(subcommands, newBuildCmd) }

func newBuildCmd() *cobra.Command {
	var output, size, temp string
	var noMap, noRoutes, noSearch, asJSON bool
	cmd := &cobra.Command{
		Use:   "build <extract>... --output <file>",
		Short: "Compiles OpenStreetMap extracts into a region file",
		Long: `
Compiles OpenStreetMap extracts (.osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst)
into one region file. The file replaces an earlier one when it is complete, and a
running server notices that. The same extracts make the same bytes.

Temporary files take up to about eleven times the extracts. They are removed at
the end, those of a killed build by the next one. Without the map (--no-map),
routes (--no-routes) or search (--no-search) the build takes less time.`,
		Example: `  caddy maps build delaware-latest.osm.pbf --output delaware.region
  caddy maps build north.osm.pbf south.osm.pbf --output both.region
  caddy maps build germany-latest.osm.pbf --output germany.region --memory 4GiB --temp /var/tmp`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("at least one extract is needed")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, extracts []string) error {
			bytes, err := compiler.ParseMemory(size)
			if err != nil {
				return usagef("--memory: %w", err)
			}
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			report, err := compile(ctx, cmd.ErrOrStderr(), compiler.Options{
				Inputs: extracts, Output: output, Memory: bytes, Temp: temp,
				NoMap: noMap, NoRoutes: noRoutes, NoSearch: noSearch,
			})
			if err != nil {
				return err
			}
			if asJSON { // as `caddy maps info`
				described, err := describe(ctx, output, false)
				if err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), described)
			}
			return printReport(cmd.OutOrStdout(), output, report)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "The region file (required)")
	cmd.Flags().StringVar(&size, "memory", "", "Most memory to use, such as 1GiB; default: a quarter of the machine's")
	cmd.Flags().StringVar(&temp, "temp", "", "Directory for temporary files; default: that of the output")
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&noMap, "no-map", false, "Leave out the map that maps_tiles serves")
	cmd.Flags().BoolVar(&noRoutes, "no-routes", false, "Leave out what maps_route needs")
	cmd.Flags().BoolVar(&noSearch, "no-search", false, "Leave out what searches such as those of maps_geocode need")
	_ = cmd.MarkFlagRequired("output") // fails only for a flag that is not there
	return cmd
}

// buildShares are the stages of a build and their shares of its time, in percent, as measured with Delaware.
func buildShares(extracts int) map[string]float64 {
	shares := map[string]float64{"nodes": 7, "ways": 18, "areas": 4, "compile": 70, "write": 1}
	if extracts > 1 {
		shares["versions"] = 10
	}
	return shares
}

// compile compiles extracts and shows the progress.
func compile(ctx context.Context, out io.Writer, options compiler.Options) (*compiler.Report, error) {
	show := newProgress(out, buildShares(len(options.Inputs)))
	options.Progress = show.update
	report, err := compiler.Build(ctx, options)
	show.end()
	return report, interrupted(err)
}

func printReport(out io.Writer, path string, r *compiler.Report) error {
	c := &r.Counts
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s roads, %s features, %s addresses\n", path, humanize.IBytes(uint64(r.Size)),
		humanize.Comma(c.Roads), humanize.Comma(c.Features), humanize.Comma(c.Addresses))
	var flaws []string
	for _, flaw := range []struct {
		n    int64
		text string
	}{
		{c.MissingNodes, "references to nodes that the extract does not have"},
		{c.BrokenAreas, "areas that could not be closed"},
		{c.RepairedRings, "rings repaired"},
		{c.SkippedRestrictions, "turn restrictions that are not understood"},
	} {
		if flaw.n > 0 {
			flaws = append(flaws, humanize.Comma(flaw.n)+" "+flaw.text)
		}
	}
	if len(flaws) > 0 {
		fmt.Fprintf(&b, "left out or repaired: %s\n", strings.Join(flaws, ", "))
	}
	if !r.Timestamp.IsZero() {
		fmt.Fprintf(&b, "map data of %s\n", r.Timestamp.UTC().Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "read in %s, compiled in %s, written in %s, with %s of temporary files\n",
		round(r.Read), round(r.Compile), round(r.Write), humanize.IBytes(uint64(r.Scratch)))
	fmt.Fprintf(&b, "%s, %s\n", compiler.Attribution, compiler.License)
	_, err := io.WriteString(out, b.String())
	return err
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
