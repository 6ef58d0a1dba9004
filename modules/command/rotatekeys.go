package command

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newRotateKeysCmd) }

func newRotateKeysCmd() *cobra.Command {
	var client adminClient
	var revokeOld bool
	cmd := &cobra.Command{
		Use:   "rotate-keys",
		Short: "Makes new signing keys; with --revoke-old all tokens of the old ones end at once",
		Long: `
Asks the running server's admin API for new signing keys, of access tokens and of
user tokens, and lists all keys. New tokens are signed with the new keys at once,
by all servers that share the store. Old keys are removed when the last token that
they signed has expired.

With --revoke-old they are removed at once: every access token and user token that
they signed ends, on this server before the command does, and on all others within
a second. That is for keys that somebody else may have. Refresh tokens go on.`,
		Example: `  caddy maps rotate-keys
  caddy maps rotate-keys --revoke-old`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			question := struct {
				RevokeOld bool `json:"revokeOld,omitempty"`
			}{revokeOld}
			var rotated rotatedKeys
			if err := client.do(http.MethodPost, "/maps/keys/rotate", question, &rotated); err != nil {
				return err
			}
			if err := rotated.print(cmd.OutOrStdout()); err != nil {
				return err
			}
			if revokeOld && rotated.Revoked == nil {
				return errors.New("the server is of a version that rotates keys and revokes none: " +
					"tokens of the old keys are still good")
			}
			return nil
		},
	}
	client.addFlags(cmd)
	cmd.Flags().BoolVarP(&revokeOld, "revoke-old", "", false, "Remove the old keys at once, which ends all their tokens")
	return cmd
}

// rotatedKeys is the response to POST /maps/keys/rotate.
type rotatedKeys struct {
	Keys []struct {
		ID        string     `json:"kid"`
		Use       string     `json:"use"`
		Algorithm string     `json:"algorithm"`
		Signs     bool       `json:"signs"`
		RemovedAt *time.Time `json:"removedAt"`
	} `json:"keys"`
	Revoked []string `json:"revoked"`
}

func (r *rotatedKeys) print(out io.Writer) error {
	for _, k := range r.Keys {
		what := "kept"
		switch {
		case k.Signs:
			what = "signs new tokens"
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
