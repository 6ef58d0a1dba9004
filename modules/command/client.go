package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// maxResponse is the largest response of the admin API in bytes.
const maxResponse = 1 << 20

// adminClient sends requests to the admin API of the running server, which it finds as `caddy reload` does.
type adminClient struct{ address, config, adapter string }

// addFlags adds the flags that `caddy reload` has for finding the server.
func (c *adminClient) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.address, "address", "", "", "Address of the admin API")
	cmd.Flags().StringVarP(&c.config, "config", "c", "", "Configuration file with the address of the admin API")
	cmd.Flags().StringVarP(&c.adapter, "adapter", "a", "", "Adapter of the configuration file")
}

// do sends a JSON body to the admin API and decodes its JSON response into a variable, unless that is nil.
func (c *adminClient) do(method, path string, body, into any) error {
	address, err := c.find()
	if err != nil {
		return fmt.Errorf("finding the admin API: %w", err)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, bytes.NewReader(text))
	switch {
	case err == nil:
	case strings.HasPrefix(err.Error(), "performing request"): // it was not reached
		return fmt.Errorf("asking the server at %s: %w; is it running? --address and --config name another one", address, err)
	default:
		return fmt.Errorf("asking the server at %s: %w", address, err)
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxResponse)).Decode(into); err != nil {
		return fmt.Errorf("reading the response of %s: %w", address, err)
	}
	return nil
}

func (c *adminClient) find() (string, error) {
	if c.address != "" {
		return c.address, nil
	}
	// Without a name this looks for a Caddyfile here; none is no error.
	config, file, _, err := caddycmd.LoadConfig(c.config, c.adapter)
	if err != nil {
		return "", err
	}
	return caddycmd.DetermineAdminAPIAddress("", config, file, c.adapter)
}
