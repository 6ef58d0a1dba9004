package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

func init() { subcommands = append(subcommands, newSearchCmd) }

func newSearchCmd() *cobra.Command {
	var (
		q               = geocoding.Query{Autocomplete: true}
		near, language  string
		asJSON, explain bool
	)
	cmd := &cobra.Command{
		Use:   "search <file> <query>... [--near <lat>,<lon>] [--limit 5] [--language <list>] [--explain] [--json]",
		Short: "Finds places in a region file by their names",
		Long: `
Finds places, streets, addresses and points of interest by text in a region
file, as the server would, and prints them best first, with their positions.`,
		Example: `  caddy maps search delaware.region "414 federal st, dover"
  caddy maps search delaware.region pharmacy --near 39.158,-75.524 --explain
  caddy maps search bern.region Berne --language fr --json`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) < 2 {
				return usagef("a region file and a query are needed")
			}
			q.Text = strings.Join(args[1:], " ")
			if q.Limit < 1 || q.Limit > geocoding.MaxLimit {
				return usagef("--limit: %d is not a whole number from 1 to %d", q.Limit, geocoding.MaxLimit)
			}
			if near != "" {
				at, err := parsePosition(near)
				if err != nil {
					return err
				}
				q.Near = &at
			}
			if q.Languages, err = geocoding.ParseLanguages(language); err != nil {
				return usagef("--language: %w", err)
			}
			result, err := findPlaces(cmd, args[0], &q)
			if err != nil {
				return interrupted(err)
			}
			out := cmd.OutOrStdout()
			if asJSON {
				_, err = out.Write(append(answer.AppendSearch(nil, &q, result, explain), '\n'))
				return err
			}
			for i := range result.Places {
				p := &result.Places[i]
				if explain {
					fmt.Fprintf(out, "%.3f (text %.3f, importance %.3f, proximity %.3f)  ", p.Score.Total, p.Score.Text,
						p.Score.Importance, p.Score.Proximity)
				}
				fmt.Fprintf(out, "%.5f,%.5f  %s  (%s=%s)\n", p.Location.Lat(), p.Location.Lon(), p.DisplayName, p.Category,
					p.Type)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&near, "near", "", "A position to prefer results near, as latitude,longitude")
	cmd.Flags().IntVar(&q.Limit, "limit", 5, "Largest number of results, 1 to 50")
	cmd.Flags().StringVar(&language, "language", "", "Languages of names, as in Accept-Language")
	cmd.Flags().BoolVar(&explain, "explain", false, "Print the parts of each score")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print the JSON of /v2/search/geocode")
	return cmd
}

func findPlaces(cmd *cobra.Command, path string, q *geocoding.Query) (*geocoding.Result, error) {
	ctx, stop := untilInterrupt(cmd.Context())
	defer stop()
	file, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Release()
	places, err := geocoding.Open(file)
	if err != nil {
		return nil, err
	}
	index, err := search.Open(file, places)
	if err != nil {
		return nil, err
	}
	if index.Empty() {
		return nil, fmt.Errorf("%s has no search index; build it again without --no-search", path)
	}
	return index.Search(ctx, q)
}
