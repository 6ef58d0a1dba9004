package command

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func init() { subcommands = append(subcommands, newRotateKeysCmd) }

func newRotateKeysCmd() *cobra.Command {
	var client adminClient
	cmd := &cobra.Command{
		Use:   "rotate-keys",
		Short: "Makes new signing keys; tokens of the old ones stay good until they expire",
		Long: `
Asks the running server's admin API for new signing keys, of access tokens and of
user tokens, and lists all keys. New tokens are signed with the new keys at once,
by all servers that share the store. Old keys are removed when the last token that
they signed has expired.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer struct {
				Keys []struct {
					ID        string     `json:"kid"`
					Use       string     `json:"use"`
					Algorithm string     `json:"algorithm"`
					Signs     bool       `json:"signs"`
					RemovedAt *time.Time `json:"removedAt"`
				} `json:"keys"`
			}
			if err := client.do(http.MethodPost, "/maps/keys/rotate", struct{}{}, &answer); err != nil {
				return err
			}
			for _, k := range answer.Keys {
				what := "kept"
				switch {
				case k.Signs:
					what = "signs new tokens"
				case k.RemovedAt != nil:
					what = "kept until " + k.RemovedAt.UTC().Format(time.RFC3339)
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %-6s  %-5s  %s\n", k.ID, k.Use, k.Algorithm, what); err != nil {
					return err
				}
			}
			return nil
		},
	}
	client.addFlags(cmd)
	return cmd
}
