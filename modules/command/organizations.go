package command

import (
	"fmt"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func init() { subcommands = append(subcommands, newOrganizationsCmd) }

func newOrganizationsCmd() *cobra.Command {
	var client adminClient
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "organizations [--json]",
		Short: "Lists the organizations that have accounts",
		Long: `
Asks the running server for all organizations that have accounts, with the number of
active, suspended and revoked ones.`,
		Example: `  caddy maps organizations`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readPages[account.Organization](&client, "/maps/organizations", url.Values{"limit": {"200"}})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), append([]account.Organization{}, all...))
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ORGANIZATION\tACTIVE\tSUSPENDED\tREVOKED")
			for _, o := range all {
				fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", o.Name, o.Active, o.Suspended, o.Revoked)
			}
			return w.Flush()
		},
	}
	client.addFlags(cmd)
	addJSON(cmd, &asJSON)
	return cmd
}
