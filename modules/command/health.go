package command

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/modules/app"
)

func init() { subcommands = append(subcommands, newHealthCmd) }

func newHealthCmd() *cobra.Command {
	var client adminClient
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "health [--address <interface>]",
		Short: "Checks whether the running server can do its work",
		Long: `
Asks the running server about its store and regions, prints a line for each, and
fails where maps_health would answer 503. Use it as a container's health check.`,
		Example: `  caddy maps health --config /etc/caddy-maps/Caddyfile
  caddy maps health --address localhost:2019`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var status app.Status
			if err := client.do(http.MethodGet, "/maps/status", nil, &status); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				if err := printJSON(out, status); err != nil {
					return err
				}
			} else {
				fmt.Fprintf(out, "service %s\nstore %s\n", status.Status, status.Store)
				for _, r := range status.Regions {
					fmt.Fprintf(out, "region %s %s\n", r.Name, r.Status)
				}
			}
			if !status.Healthy() {
				return errors.New("the service is unavailable")
			}
			return nil
		},
	}
	client.addFlags(cmd)
	addJSON(cmd, &asJSON)
	return cmd
}
