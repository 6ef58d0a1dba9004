package command

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newUserTokenCmd) }

func newUserTokenCmd() *cobra.Command {
	var (
		client                     adminClient
		organization, subject, ttl string
		console                    bool
		base                       string
	)
	cmd := &cobra.Command{
		Use:   "user-token --organization <org> [--subject <name>] [--ttl 1h] [--console [--base <url>]]",
		Short: "Mints a user token, with which accounts are managed",
		Long: `
Asks the running server's admin API for a user token, and prints it alone on
standard output. Its holder may manage the service accounts of the organization
until it expires, after 24 hours at most.

With --console it prints the address of the console with the token in it, to be
opened in a browser. Where the site is comes from the configuration of the
running server, unless --base says it. Whoever has the address has the token.`,
		Example: `  caddy maps user-token --organization acme --ttl 8h
  caddy maps user-token --organization acme --console --base https://maps.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := caddy.ParseDuration(ttl); err != nil {
				return fmt.Errorf("--ttl: %q is not a duration, such as 8h", ttl)
			}
			if base != "" {
				if !console {
					return errors.New("--base: needs --console")
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
			body := map[string]string{"organization": organization, "ttl": ttl}
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
			_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&organization, "organization", "", "Organization whose accounts the token manages (required)")
	cmd.Flags().StringVar(&subject, "subject", "", "Who the token is for; stands in the log and in createdBy")
	cmd.Flags().StringVar(&ttl, "ttl", "1h", "How long the token is valid, at most 24h")
	cmd.Flags().BoolVar(&console, "console", false, "Print the console's address with the token in it")
	cmd.Flags().StringVar(&base, "base", "", "With --console: the site's address, such as https://maps.example.com, "+
		"if not that of the configuration")
	client.addFlags(cmd)
	_ = cmd.MarkFlagRequired("organization") // fails only for a flag that is not there
	return cmd
}
