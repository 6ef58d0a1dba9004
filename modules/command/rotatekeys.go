package command

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newRotateKeysCmd) }

func newRotateKeysCmd() *cobra.Command {
	var client adminClient
	var revokeOld, asJSON bool
	cmd := &cobra.Command{
		Use:   "rotate-keys",
		Short: "Makes new signing keys; --revoke-old ends all earlier tokens",
		Long: `
Asks the running server for new signing keys, and lists all keys. A new key of
access tokens is published at once and signs after 5 minutes, when every cached
jwks.json has it. Old keys are removed when their last token has expired.

Use --revoke-old if a key may have leaked: the new keys sign at once, and every
access and user token of the old ones ends, on other servers within a second.
Refresh tokens stay valid.`,
		Example: `  caddy maps rotate-keys
  caddy maps rotate-keys --revoke-old`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			question := struct {
				RevokeOld bool `json:"revokeOld,omitempty"`
			}{revokeOld}
			var rotated rotatedKeys
			if err := client.do(http.MethodPost, "/maps/keys/rotate", question, &rotated); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), rotated)
			}
			return rotated.print(cmd.OutOrStdout())
		},
	}
	client.addFlags(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVarP(&revokeOld, "revoke-old", "", false, "Remove the old keys at once")
	return cmd
}

// rotatedKeys is the response to POST /maps/keys/rotate.
type rotatedKeys struct {
	Keys []struct {
		ID        string     `json:"kid"`
		Use       string     `json:"use"`
		Algorithm string     `json:"algorithm"`
		Signs     bool       `json:"signs"`
		SignsFrom *time.Time `json:"signsFrom,omitempty"`
		RemovedAt *time.Time `json:"removedAt,omitempty"`
	} `json:"keys"`
	Revoked []string `json:"revoked,omitempty"`
}

func (r *rotatedKeys) print(out io.Writer) error {
	for _, k := range r.Keys {
		what := "kept"
		switch {
		case k.Signs:
			what = "signs new tokens"
		case k.SignsFrom != nil:
			what = "published, signs from " + k.SignsFrom.UTC().Format(time.RFC3339)
		case k.RemovedAt != nil:
			what = "kept until " + k.RemovedAt.UTC().Format(time.RFC3339)
		}
		if _, err := fmt.Fprintf(out, "%s  %-6s  %-5s  %s\n", k.ID, k.Use, k.Algorithm, what); err != nil {
			return err
		}
	}
	for _, id := range r.Revoked {
		if _, err := fmt.Fprintf(out, "%s  revoked\n", id); err != nil {
			return err
		}
	}
	return nil
}
