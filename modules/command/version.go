package command

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"text/tabwriter"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/internal/store/postgres"
	"github.com/mapsedge/caddy-maps/internal/version"
)

func init() { subcommands = append(subcommands, newVersionCmd) }

func newVersionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "Shows the version of caddy-maps, and the formats that it reads and writes",
		Long: `
Shows the version of caddy-maps in this program, the versions of Caddy and Go that
it was built with, and which formats of region files and stores it reads. Stores of
an earlier format are upgraded when they are opened. Region files are compiled anew.

What a server that is running was built from is on its admin API: GET /maps/status.`,
		Example: `  caddy maps version
  caddy maps version --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := thisVersion()
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(v)
			}
			return v.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print a JSON object")
	return cmd
}

// versions are those of the program and of what it keeps.
type versions struct {
	Version string `json:"version"` // of caddy-maps
	Caddy   string `json:"caddy"`
	Go      string `json:"go"`
	// Formats are those of region files and of both stores.
	Formats struct {
		Region   formats `json:"region"`
		Bolt     formats `json:"bolt"`
		Postgres formats `json:"postgres"`
	} `json:"formats"`
}

// formats are the oldest and the newest that this version reads. It writes the newest.
type formats struct {
	Oldest int `json:"oldest"`
	Newest int `json:"newest"`
}

func thisVersion() (v versions) {
	v.Version, v.Go = version.Of(), runtime.Version()
	v.Caddy, _ = caddy.Version()
	v.Formats.Region = formats{region.Version, region.Version}
	v.Formats.Bolt.Oldest, v.Formats.Bolt.Newest = bolt.Formats()
	v.Formats.Postgres.Oldest, v.Formats.Postgres.Newest = postgres.TableVersions()
	return v
}

func (v *versions) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range []struct {
		name  string
		value any
	}{
		{"caddy-maps", v.Version}, {"Caddy", v.Caddy}, {"Go", v.Go},
		{"Region file format", v.Formats.Region}, {"Bolt file format", v.Formats.Bolt},
		{"PostgreSQL table version", v.Formats.Postgres},
	} {
		fmt.Fprintf(w, "%s\t%v\n", row.name, row.value)
	}
	return w.Flush()
}

// String is what the command prints.
func (f formats) String() string {
	if f.Oldest == f.Newest {
		return strconv.Itoa(f.Newest)
	}
	return fmt.Sprintf("%d (reads %d to %d)", f.Newest, f.Oldest, f.Newest)
}
