package command

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func init() { subcommands = append(subcommands, newAccountsCmd) }

// accounts has the flags that the commands below `caddy maps accounts` share.
type accounts struct {
	client adminClient
	asJSON bool
}

func newAccountsCmd() *cobra.Command {
	var a accounts
	cmd := &cobra.Command{
		Use:   "accounts",
		Short: "Lists, creates, suspends and deletes service accounts",
		Long: `
Manages the service accounts of all organizations through the admin API of the
running server. No user token is needed.`,
		Example: `  caddy maps accounts create --organization acme --scopes TILE,DIRECTION
  caddy maps accounts list --organization acme`,
		GroupID: online,
		Args:    knownSubcommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.list(), a.create(), a.show(),
		a.status("suspend", account.StatusSuspended, "Suspends an account", `
Suspends an account: its access tokens end within a second. A suspended account
can be activated again.`),
		a.status("activate", account.StatusActive, "Activates a suspended account", `
Activates a suspended account: its client and server token work again. Access
tokens from before it was suspended do not.`),
		a.status("revoke", account.StatusRevoked, "Revokes an account for ever", `
Revokes an account: its tokens end within a second and never work again. The
account stays in the list.`),
		a.remove())
	for _, sub := range cmd.Commands() {
		a.client.addFlags(sub)
		addJSON(sub, &a.asJSON)
	}
	return cmd
}

func (a *accounts) list() *cobra.Command {
	var organization, status string
	cmd := &cobra.Command{
		Use:   "list [--organization <org>] [--status <status>] [--json]",
		Short: "Lists accounts",
		Long:  "Lists the accounts of an organization, or of all organizations, newest first.",
		Example: `  caddy maps accounts list
  caddy maps accounts list --organization acme --status SUSPENDED --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names := []string{organization}
			if !cmd.Flags().Changed("organization") {
				all, err := readOrganizations(&a.client)
				if err != nil {
					return err
				}
				names = nil
				for _, o := range all {
					names = append(names, o.Name)
				}
			}
			found := []account.Account{}
			for _, name := range names {
				query := url.Values{"organization": {name}}
				if status != "" {
					query.Set("status", status)
				}
				more, err := readPages[account.Account](&a.client, "/maps/accounts", query)
				if err != nil {
					return err
				}
				found = append(found, more...)
			}
			if len(found) == 0 && cmd.Flags().Changed("organization") {
				if err := noteUnknown(cmd.ErrOrStderr(), &a.client, organization); err != nil {
					return err
				}
			}
			if a.asJSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tORGANIZATION\tSTATUS\tADMIN\tPLATFORM\tSCOPES\tCREATED\tDESCRIPTION")
			for i := range found {
				acc := &found[i]
				fmt.Fprintf(w, "%s\t%s\t%s\t%t\t%s\t%s\t%s\t%s\n", acc.ID, acc.OrganizationID, acc.Status, acc.IsAdmin,
					acc.Platform, joined(acc.Scopes), acc.CreatedAt.UTC().Format(time.RFC3339), printable(acc.Description))
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&organization, "organization", "", "Only accounts of this organization")
	cmd.Flags().StringVar(&status, "status", "", "Only ACTIVE, SUSPENDED or REVOKED accounts")
	return cmd
}

func (a *accounts) create() *cobra.Command {
	var body struct {
		Organization string   `json:"organization"`
		Scopes       []string `json:"scopes"`
		Platform     string   `json:"platform"`
		Description  string   `json:"description"`
		IsAdmin      bool     `json:"isAdmin"`
	}
	cmd := &cobra.Command{
		Use: "create --organization <org> --scopes <scope>,… [--description <text>] [--platform <platform>] [--admin] " +
			"[--json]",
		Short: "Creates an account and prints its two tokens",
		Long: `
Creates an account and prints its client token and its server token. They are
shown only now.`,
		Example: `  caddy maps accounts create --organization acme --scopes TILE,DIRECTION
  caddy maps accounts create --organization acme --scopes REVERSEGEOCODING --description "nightly jobs" --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var made struct {
				Data struct {
					account.Account
					ClientToken string `json:"clientToken"`
					ServerToken string `json:"serverToken"`
				} `json:"data"`
			}
			if err := a.client.do(http.MethodPost, "/maps/accounts", body, &made); err != nil {
				return err
			}
			if a.asJSON {
				return printJSON(cmd.OutOrStdout(), made.Data)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "The account %s of %s has two tokens. Keep them: they are shown only "+
				"now.\n  client token  %s\n  server token  %s\n", made.Data.ID, made.Data.OrganizationID,
				made.Data.ClientToken, made.Data.ServerToken)
			return err
		},
	}
	cmd.Flags().StringVar(&body.Organization, "organization", "", "Organization of the account (required)")
	cmd.Flags().StringSliceVar(&body.Scopes, "scopes", nil, "Scopes, separated by commas (required)")
	cmd.Flags().StringVar(&body.Description, "description", "", "What the account is for")
	cmd.Flags().StringVar(&body.Platform, "platform", "", "WEB, ANDROID, IOS or DESKTOP")
	cmd.Flags().BoolVar(&body.IsAdmin, "admin", false, "Let its access tokens manage accounts of the organization")
	for _, name := range []string{"organization", "scopes"} {
		_ = cmd.MarkFlagRequired(name) // fails only for a flag that is not there
	}
	return cmd
}

func (a *accounts) show() *cobra.Command {
	return &cobra.Command{
		Use:     "show <id> [--json]",
		Short:   "Shows an account",
		Long:    "Shows an account with its quotas and restrictions.",
		Example: `  caddy maps accounts show sa_1Yw3Kc0Zq8TdR5mVbN2xHf`,
		Args:    oneAccount,
		RunE: func(cmd *cobra.Command, args []string) error {
			var found accountResponse
			if err := a.client.do(http.MethodGet, accountPath(args[0]), nil, &found); err != nil {
				return err
			}
			if a.asJSON {
				return printJSON(cmd.OutOrStdout(), found.Data)
			}
			return printAccount(cmd.OutOrStdout(), &found.Data)
		},
	}
}

// status creates a command that changes the status of an account.
func (a *accounts) status(name string, to account.Status, short, long string) *cobra.Command {
	return &cobra.Command{
		Use:     name + " <id> [--json]",
		Short:   short,
		Long:    long,
		Example: "  caddy maps accounts " + name + " sa_1Yw3Kc0Zq8TdR5mVbN2xHf",
		Args:    oneAccount,
		RunE: func(cmd *cobra.Command, args []string) error {
			var changed accountResponse
			if err := a.client.do(http.MethodPatch, accountPath(args[0]), map[string]account.Status{"status": to},
				&changed); err != nil {
				return err
			}
			if a.asJSON {
				return printJSON(cmd.OutOrStdout(), changed.Data)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is %s\n", changed.Data.ID, changed.Data.Status)
			return err
		},
	}
}

func (a *accounts) remove() *cobra.Command {
	return &cobra.Command{
		Use:   "delete <id> [--json]",
		Short: "Deletes an account",
		Long: `
Deletes an account of any status, with its publishable keys. Its tokens end within
a second. Its usage stays.`,
		Example: `  caddy maps accounts delete sa_1Yw3Kc0Zq8TdR5mVbN2xHf`,
		Args:    oneAccount,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.client.do(http.MethodDelete, accountPath(args[0]), nil, nil); err != nil {
				return err
			}
			if a.asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"id": args[0], "deleted": true})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is deleted\n", args[0])
			return err
		},
	}
}

type accountResponse struct {
	Data account.Account `json:"data"`
}

func accountPath(id string) string { return "/maps/accounts/" + url.PathEscape(id) }

func oneAccount(_ *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return errors.New("the id of one account is needed, such as sa_1Yw3Kc0Zq8TdR5mVbN2xHf")
	}
	return nil
}

// readPages reads all pages of a list of the admin API.
func readPages[T any](client *adminClient, path string, query url.Values) (all []T, err error) {
	for {
		var page struct {
			Data       []T     `json:"data"`
			NextCursor *string `json:"nextCursor"`
		}
		if err := client.do(http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Data...); page.NextCursor == nil {
			return all, nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

func printAccount(out io.Writer, acc *account.Account) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	row("Account", acc.ID)
	row("Organization", acc.OrganizationID)
	row("Status", string(acc.Status))
	row("Scopes", joined(acc.Scopes))
	if acc.IsAdmin {
		row("Admin", "its access tokens may manage accounts")
	}
	row("Platform", string(acc.Platform))
	row("Description", printable(acc.Description))
	for _, quota := range acc.Quotas {
		row("Quota", quota.String())
	}
	row("Origins", strings.Join(acc.Restrictions.Origins, ", "))
	row("Networks", strings.Join(acc.Restrictions.Networks, ", "))
	row("Tokens", fmt.Sprintf("client mpc_…%s, server mps_…%s", acc.ClientHint, acc.ServerHint))
	row("Created", acc.CreatedAt.UTC().Format(time.RFC3339)+" by "+printable(acc.CreatedBy))
	row("Updated", acc.UpdatedAt.UTC().Format(time.RFC3339))
	return w.Flush()
}

func joined(scopes account.Scopes) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}
	return strings.Join(names, ",")
}

// printable makes a text of others safe for a terminal: line feeds and other control characters become spaces.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
