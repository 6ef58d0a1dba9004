package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/regions/fetch"
	"github.com/mapsedge/caddy-maps/internal/tiles"
)

func init() { subcommands = append(subcommands, newInfoCmd) }

func newInfoCmd() *cobra.Command {
	var asJSON, verify bool
	cmd := &cobra.Command{
		Use:   "info <file> [--json] [--verify]",
		Short: "Shows what a region file contains",
		Long: `
Shows a region file's source, licence, coverage, content, format and checksum, and
of a file that a server downloaded, where it came from and when.

Blocks are checked when they are first read; --verify checks all of them at once.`,
		Example: `  caddy maps info delaware.region
  caddy maps info delaware.region --verify --json`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilInterrupt(cmd.Context())
			defer stop()
			described, err := describe(ctx, args[0], verify)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), described)
			}
			return described.print(cmd.OutOrStdout(), verify)
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&verify, "verify", false, "Check all blocks against their checksums")
	return cmd
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected one region file, got %d arguments", len(args))
	}
	return nil
}

// description describes a region file, by its content and by the file beside it.
type description struct {
	region.Info
	// Map is the part of the file from which tiles are rendered; nil without a map.
	Map *mapPart `json:"map,omitempty"`
	// Routes is how many bytes of the file only routes need; 0 without routes.
	Routes int64 `json:"routes,omitempty"`
	// Search is how many bytes of the file only searches need; 0 without a search index.
	Search int64 `json:"search,omitempty"`
	// Origin is where a server downloaded the file from; nil if unknown.
	Origin *fetch.Origin `json:"origin,omitempty"`
}

// mapPart describes the map in a region file.
type mapPart struct {
	Bytes   int64 `json:"bytes"`
	MaxZoom uint8 `json:"maxZoom"`
}

// describe reads what a region file contains, and verifies all of it on request.
func describe(ctx context.Context, path string, verify bool) (d description, err error) {
	file, err := region.Open(path)
	if err != nil {
		return d, err
	}
	defer file.Release()
	if d.Info, err = file.Info(); err != nil {
		return d, err
	}
	if verify {
		if err := file.VerifyWhole(ctx); err != nil {
			return d, interrupted(err)
		}
	}
	d.Map, err = mapOf(file, &d.Info)
	d.Routes, d.Search = bytesOf(&d.Info, "routes."), bytesOf(&d.Info, "search.")
	// Most files have nothing beside them, or files of other programs.
	d.Origin = fetch.ReadOrigin(path, d.Info.Checksum)
	return d, err
}

// mapOf describes the map of a region file; nil without a map.
func mapOf(file *region.File, info *region.Info) (*mapPart, error) {
	m, err := tiles.Open(file)
	if m == nil || err != nil {
		return nil, err
	}
	return &mapPart{MaxZoom: tiles.MaxZoom, Bytes: bytesOf(info, "map.")}, nil
}

// bytesOf returns the size of the sections whose names begin with a prefix.
func bytesOf(info *region.Info, prefix string) (bytes int64) {
	for _, section := range info.Sections {
		if strings.HasPrefix(section.Name, prefix) {
			bytes += section.Bytes
		}
	}
	return bytes
}

func (info *description) print(out io.Writer, verified bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("File", "%s", info.Path)
	row("Size", "%s (%d bytes)", humanize.IBytes(uint64(info.Size)), info.Size)
	row("Format", "%d", info.Format)
	checksum := info.Checksum
	if verified {
		checksum += " (verified)"
	}
	row("Checksum", "%s", checksum)
	row("Source", "%s", strings.Join(info.Sources, ", "))
	row("Licence", "%s", info.License)
	row("Attribution", "%s", info.Attribution)
	if !info.Timestamp.IsZero() {
		row("Data of", "%s (%s)", info.Timestamp.UTC().Format(time.RFC3339), humanize.Time(info.Timestamp))
	}
	if o := info.Origin; o != nil {
		row("Origin", "%s", o.URL)
		row("Fetched", "%s", o.Fetched.UTC().Format(time.RFC3339))
		if o.ETag != "" {
			row("ETag", "%s", o.ETag)
		}
	}
	if m := info.Map; m != nil {
		row("Map", "%s, up to zoom %d", humanize.IBytes(uint64(m.Bytes)), m.MaxZoom)
	} else {
		row("Map", "none: maps_tiles serves only networks")
	}
	for _, part := range [...]struct {
		name   string
		bytes  int64
		module string
	}{{"Routes", info.Routes, "maps_route"}, {"Search", info.Search, "maps_geocode"}} {
		if part.bytes > 0 {
			row(part.name, "%s", humanize.IBytes(uint64(part.bytes)))
		} else {
			row(part.name, "none: %s finds nothing", part.module)
		}
	}
	b := info.Bounds
	row("Bounds", "%.5f,%.5f to %.5f,%.5f (latitude, longitude)", b.MinLat, b.MinLon, b.MaxLat, b.MaxLon)
	for _, name := range slices.Sorted(maps.Keys(info.Counts)) {
		row(label(name), "%s", humanize.Comma(info.Counts[name]))
	}
	return w.Flush()
}

// label turns the name of a count into words: missingNodes becomes "Missing nodes".
func label(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r):
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
