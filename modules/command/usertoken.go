package command

import (
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newUserTokenCmd) }

func newUserTokenCmd() *cobra.Command {
	var (
		client                     adminClient
		organization, subject, ttl string
	)
	cmd := &cobra.Command{
		Use:   "user-token --organization <org> [--subject <name>] [--ttl 1h]",
		Short: "Mints a user token, with which accounts are managed",
		Long: `
Asks the running server's admin API for a user token, and prints it alone on
standard output. Its holder may manage the service accounts of the organization
until it expires, after 24 hours at most.`,
		Example: `  caddy maps user-token --organization acme --ttl 8h`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := caddy.ParseDuration(ttl); err != nil {
				return fmt.Errorf("--ttl: %w", err)
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
			_, err := fmt.Fprintln(cmd.OutOrStdout(), minted.Token)
			return err
		},
	}
	cmd.Flags().StringVar(&organization, "organization", "", "Organization whose accounts the token manages (required)")
	cmd.Flags().StringVar(&subject, "subject", "", "Who the token is for; stands in the log and in createdBy")
	cmd.Flags().StringVar(&ttl, "ttl", "1h", "How long the token is valid, at most 24h")
	client.addFlags(cmd)
	_ = cmd.MarkFlagRequired("organization") // fails only for a flag that is not there
	return cmd
}
