package command

import (
	"fmt"
	"io"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/text"
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
			all, err := readOrganizations(&client)
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

// readOrganizations returns all organizations that have accounts.
func readOrganizations(client *adminClient) ([]account.Organization, error) {
	return readPages[account.Organization](client, "/maps/organizations", url.Values{"limit": {"200"}})
}

// noteUnknown says why a list is empty if the organization has no accounts: its name may be mistyped.
func noteUnknown(out io.Writer, client *adminClient, name string) error {
	all, err := readOrganizations(client)
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, o := range all {
		if names[i] = o.Name; o.Name == name {
			return nil
		}
	}
	note := fmt.Sprintf("The organization %q has no accounts", name)
	if meant, ok := text.Closest(name, names); ok {
		note += fmt.Sprintf("; did you mean %q?", meant)
	}
	_, err = fmt.Fprintln(out, note)
	return err
}
