package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
)

func init() { subcommands = append(subcommands, newTilesCmd) }

func newTilesCmd() *cobra.Command {
	var output string
	var maxZoom int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tiles <file> --output <file>.pmtiles [--max-zoom 14]",
		Short: "Writes a region file's map as a PMTiles archive",
		Long: `
Writes the tiles of a region file's map as a PMTiles archive (version 3), with the
same bytes that maps_tiles serves. Each zoom has up to four times the tiles of the
one before; clients draw higher zooms from the highest.`,
		Example: `  caddy maps tiles delaware.region --output delaware.pmtiles
  caddy maps tiles delaware.region --output overview.pmtiles --max-zoom 10`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if maxZoom < 0 || maxZoom > tiles.MaxZoom {
				return usagef("--max-zoom: %d is not a whole number from 0 to %d", maxZoom, tiles.MaxZoom)
			}
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			file, err := region.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Release()
			show := newProgress(cmd.ErrOrStderr(), nil)
			name := filepath.Base(args[0])
			tiles, err := pmtiles.Export(ctx, file, pmtiles.ExportOptions{
				Output: output, Name: strings.TrimSuffix(name, filepath.Ext(name)), MaxZoom: uint8(maxZoom),
				Progress: show.update,
			})
			show.end()
			if err != nil {
				return interrupted(err)
			}
			info, err := os.Stat(output)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{
					"output": output, "bytes": info.Size(), "tiles": tiles, "maxZoom": maxZoom})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s tiles up to zoom %d\n", output,
				humanize.IBytes(uint64(info.Size())), humanize.Comma(tiles), maxZoom)
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "The archive (required)")
	addJSON(cmd, &asJSON)
	cmd.Flags().IntVar(&maxZoom, "max-zoom", 14, "The highest zoom of a tile, 0 to 16")
	_ = cmd.MarkFlagRequired("output") // fails only for a flag that is not there
	return cmd
}
