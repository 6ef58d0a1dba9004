package command

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/modules/app"
)

func init() { subcommands = append(subcommands, newVersionCmd) }

func newVersionCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "Shows versions and formats",
		Long: `
Shows the versions of caddy-maps, Caddy and Go in this program, and the formats of
region files and stores that it reads. The version of a running server is at GET
/maps/status of its admin API.`,
		Example: `  caddy maps version
  caddy maps version --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := thisVersion()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			return v.print(cmd.OutOrStdout())
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// versions are those of the program and of its formats.
type versions struct {
	Version string `json:"version"` // of caddy-maps
	Caddy   string `json:"caddy"`
	Go      string `json:"go"`
	// Formats are the versions of region files and of the tables of stores.
	Formats struct {
		Region int `json:"region"`
		Store  int `json:"store"`
	} `json:"formats"`
}

func thisVersion() (v versions) {
	v.Version, v.Go = app.Version(), runtime.Version()
	v.Caddy, _ = caddy.Version()
	v.Formats.Region, v.Formats.Store = region.Version, store.SchemaVersion
	return v
}

func (v *versions) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range []struct {
		name  string
		value any
	}{
		{"caddy-maps", v.Version}, {"Caddy", v.Caddy}, {"Go", v.Go},
		{"Region file format", v.Formats.Region}, {"Store tables", v.Formats.Store},
	} {
		fmt.Fprintf(w, "%s\t%v\n", row.name, row.value)
	}
	return w.Flush()
}
