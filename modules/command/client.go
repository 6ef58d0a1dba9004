package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
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
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, bytes.NewReader(text))
	if err != nil {
		return refusal(address, err)
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

// refusal describes an error of Caddy's AdminAPIRequest, which has only a text.
func refusal(address string, err error) error {
	message := err.Error()
	if strings.HasPrefix(message, "performing request") && !strings.HasSuffix(message, "permission denied") {
		return fmt.Errorf("no server answers at %s; is it running? --address and --config name another one", address)
	}
	response, _ := strings.CutPrefix(message, "caddy responded with error: ")
	status, body, _ := strings.Cut(response, ": ")
	var answer struct{ Error string }
	if json.Unmarshal([]byte(body), &answer) == nil && answer.Error != "" {
		message = answer.Error
	}
	if status == "HTTP 400" { // it names a flag
		return usageError{errors.New(message)}
	}
	return fmt.Errorf("the server at %s: %s", address, strings.TrimSpace(message))
}

// find returns the address of the admin API: --address, or that of the configuration.
func (c *adminClient) find() (string, error) {
	if c.address != "" {
		return c.address, nil
	}
	if c.adapter != "" && c.config == "" {
		return "", usagef("--adapter: needs --config")
	}
	// Caddy logs what it reads.
	_, log, entries := caddy.BufferedLog()
	defer func() {
		entries.FlushTo(zap.NewNop())
		caddy.UnbufferDefaultLogger(log)
	}()
	// Without a name this looks for a Caddyfile here; none is no error.
	config, file, adapter, err := caddycmd.LoadConfig(c.config, c.adapter)
	if err != nil {
		return "", fmt.Errorf("finding the admin API: %w", err)
	}
	return caddycmd.DetermineAdminAPIAddress("", config, file, adapter)
}
