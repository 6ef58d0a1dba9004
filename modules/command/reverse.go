package command

import (
	"strings"

	"github.com/paulmach/orb"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() { subcommands = append(subcommands, newReverseCmd) }

func newReverseCmd() *cobra.Command {
	var (
		size        int
		category    string
		language    string
		maxDistance float64
	)
	cmd := &cobra.Command{
		Use: "reverse <file> <lat> <lon>|<lat>,<lon> [--size 1] [--category <terms>] [--language <list>] " +
			"[--max-distance 1000]",
		Short: "Looks up a position in a region file",
		Long: `
Answers one reverse geocoding from a region file, as the server would.`,
		Example: `  caddy maps reverse delaware.region 39.1573 -75.5197 --size 3
  caddy maps reverse delaware.region 39.1573,-75.5197 --category school,library
  caddy maps reverse bern.region 46.948 7.4474 --language "fr-CH, fr;q=0.9, en;q=0.5"`,
		RunE: withNegativeNumbers(func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 { // a position as maps show it: 39.1573,-75.5197
				args = append(args[:1], strings.SplitN(args[1], ",", 2)...)
			}
			if len(args) != 3 {
				return usagef("a region file, a latitude and a longitude are needed")
			}
			lat, err := parseCoordinate("lat", args[1], 90)
			if err != nil {
				return err
			}
			lon, err := parseCoordinate("lon", args[2], 180)
			if err != nil {
				return err
			}
			if size < geocoding.MinSize || size > geocoding.MaxSize {
				return usagef("--size: %d is not a whole number from %d to %d", size, geocoding.MinSize, geocoding.MaxSize)
			}
			if !(maxDistance > 0) {
				return usagef("--max-distance: %v is not a positive number of metres", maxDistance)
			}
			languages, err := geocoding.ParseLanguages(language)
			if err != nil {
				return usagef("--language: %w", err)
			}
			return reverse(cmd, args[0], &geocoding.Request{
				Point: orb.Point{lon, lat}, Size: size, Categories: splitTerms(category), Languages: languages,
				MaxDistance: maxDistance,
			})
		}),
		DisableFlagParsing: true, // withNegativeNumbers does it
	}
	cmd.Flags().Bool("json", true, "Print JSON, which is the only format")
	cmd.Flags().IntVar(&size, "size", geocoding.MinSize, "Largest number of results, 1 to 5")
	cmd.Flags().StringVar(&category, "category", "",
		"Only features whose key or value is one of these comma-separated terms")
	cmd.Flags().StringVar(&language, "language", "", "Languages of names, as in Accept-Language")
	cmd.Flags().Float64Var(&maxDistance, "max-distance", geocoding.DefaultMaxDistance,
		"How far a feature may be, in metres")
	return cmd
}

func reverse(cmd *cobra.Command, path string, req *geocoding.Request) error {
	ctx, stop := untilInterrupt(cmd.Context())
	defer stop()
	file, err := region.Open(path)
	if err != nil {
		return err
	}
	defer file.Release()
	index, err := geocoding.Open(file)
	if err != nil {
		return err
	}
	result, err := index.Reverse(ctx, req)
	if err != nil {
		return interrupted(err)
	}
	_, err = cmd.OutOrStdout().Write(append(answer.AppendPlaces(nil, req.Point, result), '\n'))
	return err
}

func parseCoordinate(name, given string, limit float64) (float64, error) {
	v, ok := text.ParseNumber([]byte(given))
	if !ok || v < -limit || v > limit {
		return 0, usagef("%s: %q is not a number from %v to %v", name, given, -limit, limit)
	}
	return v, nil
}

// splitTerms reads comma-separated terms and ignores blank ones.
func splitTerms(text string) (terms []string) {
	for term := range strings.SplitSeq(text, ",") {
		if term = strings.TrimSpace(term); term != "" {
			terms = append(terms, term)
		}
	}
	return terms
}
