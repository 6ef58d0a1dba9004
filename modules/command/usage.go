package command

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

func init() { subcommands = append(subcommands, newUsageCmd) }

func newUsageCmd() *cobra.Command {
	var (
		client adminClient
		asCSV  bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "usage --organization <org> [--from <time>] [--to <time>] [--step day] [--account <id>] [--scope <scope>]",
		Short: "Shows the usage of an organization's accounts",
		Long: `
Asks the running server for requests, errors (5xx), requests that a quota refused,
and units, by span, account and scope. All times are UTC.

What is counted: docs/run/limits.md`,
		Example: `  caddy maps usage --organization acme
  caddy maps usage --organization acme --step month --from 2026-01-01 --to 2026-07-01 --csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"limit": {"1000"}}
			for _, name := range usageParameters {
				if flag := cmd.Flags().Lookup(name); flag.Changed {
					query.Set(name, flag.Value.String())
				}
			}
			if asCSV && asJSON {
				return usagef("--csv and --json exclude each other")
			}
			all := []usage.Row{}
			write := writeUsageTable
			if asCSV {
				write = usageapi.WriteCSV
			}
			if asJSON {
				write = func(_ io.Writer, rows []usage.Row, _ bool) error {
					all = append(all, rows...)
					return nil
				}
			}
			for first := true; ; first = false {
				var page usageapi.Page
				if err := client.do(http.MethodGet, "/maps/usage?"+query.Encode(), nil, &page); err != nil {
					return err
				}
				if err := write(cmd.OutOrStdout(), page.Data, first); err != nil {
					return err
				}
				if first && len(page.Data) == 0 {
					if err := noteUnknown(cmd.ErrOrStderr(), &client, query.Get("organization")); err != nil {
						return err
					}
				}
				if page.NextCursor == nil {
					break
				}
				query.Set("cursor", *page.NextCursor)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return nil
		},
	}
	cmd.Flags().String("organization", "", "Organization whose usage is shown (required)")
	cmd.Flags().String("from", "", "Date or time; default: 24 hours, 30 days or 12 months before")
	cmd.Flags().String("to", "", "Date or time, not included; default: now")
	cmd.Flags().String("step", "day", "hour, day or month")
	cmd.Flags().String("account", "", "Only this account")
	cmd.Flags().String("scope", "", "Only this scope")
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&asCSV, "csv", false, "Print CSV")
	client.addFlags(cmd)
	_ = cmd.MarkFlagRequired("organization") // fails only for a flag that is not there
	return cmd
}

// usageParameters are the flags that are sent to the admin API as parameters.
var usageParameters = []string{"organization", "from", "to", "step", "account", "scope"}

// writeUsageTable writes rows in columns of fixed widths, so that it need not keep all rows.
func writeUsageTable(w io.Writer, rows []usage.Row, header bool) error {
	const columns = "%-20s  %-30s  %-16s"
	if header {
		if _, err := fmt.Fprintf(w, columns+" %12s %12s %12s %12s\n", "START", "ACCOUNT", "SCOPE", "REQUESTS", "REFUSED",
			"ERRORS", "UNITS"); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, columns+" %12d %12d %12d %12d\n", row.Start.UTC().Format(time.RFC3339), row.Account,
			row.Scope, row.Requests, row.Refused, row.Errors, row.Units); err != nil {
			return err
		}
	}
	return nil
}
