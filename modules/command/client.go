package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
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
		return fmt.Errorf("no server answers at %s; is it running? --address and --config name another one", address)
	default:
		return fmt.Errorf("the server at %s: %s", address, messageOf(err))
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

// messageOf returns the message in a response with an error, or the whole error of Caddy.
func messageOf(err error) string {
	_, body, _ := strings.Cut(err.Error(), "{")
	var answer struct{ Error string }
	if json.Unmarshal([]byte("{"+body), &answer) == nil && answer.Error != "" {
		return answer.Error
	}
	return strings.TrimSpace(err.Error())
}

// find returns the address of the admin API as `caddy reload` finds it: --address, or that of the configuration.
// Caddy's own function logs what it reads.
func (c *adminClient) find() (string, error) {
	file, adapter := c.config, c.adapter
	if file == "" && adapter == "" {
		if _, err := os.Stat("Caddyfile"); err == nil {
			file = "Caddyfile"
		}
	}
	if c.address != "" || file == "" {
		return caddycmd.DetermineAdminAPIAddress(c.address, nil, "", "")
	}
	config, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	name := strings.ToLower(filepath.Base(file))
	if adapter == "" && (strings.HasPrefix(name, "caddyfile") || filepath.Ext(name) == ".caddyfile") {
		adapter = "caddyfile"
	}
	if adapter != "" {
		known := caddyconfig.GetAdapter(adapter)
		if known == nil {
			return "", usagef("--adapter: %q is not known", adapter)
		}
		if config, _, err = known.Adapt(config, map[string]any{"filename": file}); err != nil {
			return "", err
		}
	}
	return caddycmd.DetermineAdminAPIAddress("", config, file, adapter)
}
