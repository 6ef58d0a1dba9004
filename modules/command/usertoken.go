package command

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
)

func init() { subcommands = append(subcommands, newUserTokenCmd) }

func newUserTokenCmd() *cobra.Command {
	var (
		client                     adminClient
		organization, subject, ttl string
		console, isNew, asJSON     bool
		base                       string
	)
	cmd := &cobra.Command{
		Use:   "user-token --organization <org> [--new] [--subject <name>] [--ttl 1h] [--console [--base <url>]]",
		Short: "Makes a user token, which manages accounts",
		Long: `
Asks the running server for a user token and prints it. Its holder may manage the
service accounts of the organization until it expires. An organization without
accounts needs --new, so that a mistyped name is noticed.

With --console it prints a link to the console with the token in it. The site is
the first in the running configuration with maps_console, or --base.`,
		Example: `  caddy maps user-token --organization acme --ttl 8h
  caddy maps user-token --organization acme --console --base https://maps.example.com`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch lifetime, err := caddy.ParseDuration(ttl); {
			case err != nil:
				return usagef("--ttl: %q is not a duration, such as 8h", ttl)
			case lifetime < time.Second || lifetime > credential.MaxUserTTL:
				return usagef("--ttl: %s is not between 1s and 24h", ttl)
			}
			if base != "" {
				if !console {
					return usagef("--base: needs --console")
				}
				if err := checkBase(base); err != nil {
					return err
				}
			}
			page := strings.TrimSuffix(base, "/") + "/console"
			if console && base == "" {
				var servers map[string]httpServer
				err := client.do(http.MethodGet, "/config/apps/http/servers", nil, &servers)
				if err != nil {
					return err
				}
				if page, err = consoleAddress(servers); err != nil {
					return err
				}
			}
			body := map[string]any{"organization": organization, "ttl": ttl, "new": isNew}
			if subject != "" {
				body["subject"] = subject
			}
			var minted struct {
				Token     string    `json:"token"`
				ExpiresAt time.Time `json:"expiresAt"`
			}
			if err := client.do(http.MethodPost, "/maps/user-tokens", body, &minted); err != nil {
				return err
			}
			text := minted.Token
			if console {
				text = page + "/#token=" + minted.Token
			}
			if asJSON && console {
				return printJSON(cmd.OutOrStdout(), map[string]any{"url": text, "expiresAt": minted.ExpiresAt})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), minted)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&organization, "organization", "", "Organization whose accounts it manages (required)")
	cmd.Flags().BoolVar(&isNew, "new", false, "The organization may have no account yet")
	cmd.Flags().StringVar(&subject, "subject", "", "Who the token is for, shown in the log and in createdBy")
	cmd.Flags().StringVar(&ttl, "ttl", "1h", "Lifetime, at most 24h")
	cmd.Flags().BoolVar(&console, "console", false, "Print a link to the console")
	cmd.Flags().StringVar(&base, "base", "", "With --console: the site's address, such as https://maps.example.com, "+
		"if not that of the configuration")
	client.addFlags(cmd)
	addJSON(cmd, &asJSON)
	_ = cmd.MarkFlagRequired("organization") // fails only for a flag that is not there
	return cmd
}
