package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/region"
)

func init() { subcommands = append(subcommands, newServeCmd) }

// serve is what `caddy maps serve` does.
type serve struct {
	sources []string // extracts and region files
	listen  string
	domain  string
	data    string // directory
	guest   bool
	print   bool
}

func newServeCmd() *cobra.Command {
	var s serve
	cmd := &cobra.Command{
		Use:     "serve <extract or region>...",
		GroupID: starting,
		Short:   "Serves maps without a configuration file",
		Long: `
Compiles OpenStreetMap extracts that are newer than their region files, and serves
all that the directive maps_service serves: the map, reverse geocoding, map
matching, tiles, accounts and the console. The first start creates a service
account of the organization default, with a publishable key for the map, and shows
its two tokens, once.

Without --domain only this machine can connect, and rate limits are high. With
--domain, Caddy gets a certificate for the name and listens on the ports 80 and
443 of all addresses.

The environment variable CADDY_ADMIN chooses another admin address than
localhost:2019.`,
		Example: `  caddy maps serve delaware-latest.osm.pbf
  caddy maps serve delaware.region andorra.region --listen 127.0.0.1:9000 --guest
  caddy maps serve delaware-latest.osm.pbf --domain maps.example.com --data /var/lib/maps
  caddy maps serve delaware.region --print-config > Caddyfile`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("at least one extract or region file is needed; https://download.geofabrik.de has extracts")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, sources []string) error {
			s.sources = sources
			if s.domain != "" && cmd.Flags().Changed("listen") {
				return usagef("--listen and --domain exclude each other: a domain is served on the ports 80 and 443")
			}
			if cmd.Flags().Changed("domain") && !hostName.MatchString(s.domain) {
				return usagef("--domain: %q is not a name like maps.example.com", s.domain)
			}
			return s.run(cmd)
		},
	}
	cmd.Flags().StringVar(&s.listen, "listen", "127.0.0.1:8080", "The address to listen on")
	cmd.Flags().StringVar(&s.domain, "domain", "", "The name of the site, served with TLS on all addresses")
	cmd.Flags().StringVar(&s.data, "data", "",
		"Directory of region files and accounts; default: maps in Caddy's data directory")
	cmd.Flags().BoolVar(&s.guest, "guest", false, "Let visitors of the map use it without a token")
	cmd.Flags().BoolVar(&s.print, "print-config", false, "Print the configuration instead of serving it")
	return cmd
}

func (s *serve) run(cmd *cobra.Command) error {
	var err error
	if s.data, err = filepath.Abs(cmp.Or(s.data, filepath.Join(caddy.AppDataDir(), "maps"))); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	var files []string
	for _, source := range s.sources {
		file, err := s.regionFile(source)
		if err != nil {
			return err
		}
		if slices.Contains(files, file) {
			return usagef("%s: another source has the region file %s already", source, file)
		}
		files = append(files, file)
	}
	text, err := s.caddyfile(files, "") // which also checks the flags
	if err != nil {
		return err
	}
	if s.print {
		_, err = io.WriteString(cmd.OutOrStdout(), text)
		return err
	}
	if err := s.checkAddresses(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return err
	}
	for i, source := range s.sources {
		if err := s.compile(cmd, source, files[i]); err != nil {
			return err
		}
	}
	ctx, stop := untilInterrupt(cmd.Context())
	account, err := s.prepareAccount(ctx)
	stop()
	if err != nil {
		return interrupted(err)
	}
	if s.guest {
		if text, err = s.caddyfile(files, account.ID); err != nil {
			return err
		}
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err
	}
	caddy.TrapSignals()
	if err := caddy.Load(config, true); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	if err := s.welcome(cmd.OutOrStdout(), account, files[0]); err != nil {
		return err
	}
	select {} // until a signal
}

// checkAddresses finds out before a long compilation that an address is taken.
func (s *serve) checkAddresses() error {
	admin := cmp.Or(os.Getenv("CADDY_ADMIN"), caddy.DefaultAdminListen)
	for address, hint := range map[string]string{s.listen: "choose another with --listen",
		admin: "choose another admin address with CADDY_ADMIN=localhost:2020"} {
		l, err := net.Listen("tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) && (s.domain == "" || address != s.listen) {
			return fmt.Errorf("%s is in use, perhaps by another Caddy; %s", address, hint)
		}
		if err == nil {
			l.Close()
		}
	}
	return nil
}

// extractName matches what is no part of a region's name.
var extractName = regexp.MustCompile(`(-latest)?(\.osm)?(\.(pbf|osm|gz|bz2|zst))?$`)

// regionFile returns the region file of a source: the source itself, or the file that an extract is compiled into.
func (s *serve) regionFile(source string) (string, error) {
	info, err := os.Stat(source)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w; https://download.geofabrik.de has extracts", err)
	case info.IsDir():
		return "", usagef("%s is a directory; an extract or a region file is needed", source)
	case strings.HasSuffix(source, ".region"):
		return filepath.Abs(source)
	}
	name := extractName.ReplaceAllString(filepath.Base(source), "")
	if name == "" || name == filepath.Base(source) {
		return "", usagef("%s is neither an extract (.osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst) nor a region file "+
			"(.region)", source)
	}
	return filepath.Join(s.data, name+".region"), nil
}

// compile compiles an extract, unless its region file is newer and undamaged.
func (s *serve) compile(cmd *cobra.Command, source, file string) error {
	if absolute, err := filepath.Abs(source); err != nil || absolute == file {
		return err
	}
	ctx, stop := untilInterrupt(cmd.Context())
	defer stop()
	if newer(file, source) && usable(ctx, file) {
		return nil
	}
	out := cmd.ErrOrStderr()
	fmt.Fprintf(out, "compiling %s into %s\n", source, file)
	_, err := compile(ctx, out, compiler.Options{Inputs: []string{source}, Output: file})
	return err
}

func newer(file, than string) bool {
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := os.Stat(than)
	return err == nil && !a.ModTime().Before(b.ModTime())
}

// usable reports whether there is a region file that this version reads, and it is undamaged.
func usable(ctx context.Context, path string) bool {
	file, err := region.Open(path)
	if err != nil {
		return false
	}
	defer file.Release()
	return file.VerifyWhole(ctx) == nil
}

// localLimits leave room for load tests: only this machine can connect.
const localLimits = `
		limit client 20000 1s
		limit account 20000 1s
		limit tiles_client 20000 1s
		limit tiles_account 20000 1s
		limit tokens 20000 1s`

// hostName matches names of hosts, which are parts of the configuration.
var hostName = regexp.MustCompile(`^[\pL\pN-]+(\.[\pL\pN-]+)*$`)

// caddyfile returns the configuration. guest is the account of visitors, or empty.
func (s *serve) caddyfile(files []string, guest string) (string, error) {
	address, bind, servers, options := s.domain, "", "", ""
	if s.domain == "" {
		host, port, err := net.SplitHostPort(s.listen)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil || host != "" && net.ParseIP(host) == nil && !hostName.MatchString(host) {
			return "", usagef("--listen: %q is not an address like 127.0.0.1:8080", s.listen)
		}
		address = "http://:" + port
		servers = "\n\tservers {\n\t\tprotocols h1\n\t}"
		if host != "" {
			bind = "\n\tbind " + host
		}
		if s.local() {
			options = localLimits
		}
	}
	if guest != "" {
		options += "\n\t\tguest " + guest
		if !s.local() {
			options += "\n\t\tpublic"
		}
	}
	if options != "" {
		options = " {" + options + "\n\t}"
	}
	quoted := make([]string, len(files))
	for i, file := range files {
		quoted[i] = strconv.Quote(file)
	}
	return fmt.Sprintf(`{
	log default {
		level WARN
	}
	persist_config off%s
	maps {
		store sqlite %q
	}
}

%s {%s
	maps_service %s%s
}
`, servers, s.store(), address, bind, strings.Join(quoted, " "), options), nil
}

func (s *serve) store() string { return filepath.Join(s.data, "accounts.db") }

// local reports whether only this machine can connect.
func (s *serve) local() bool {
	host, _, _ := net.SplitHostPort(s.listen)
	ip := net.ParseIP(host)
	return s.domain == "" && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// base is the URL of the server, as a browser on this machine opens it.
func (s *serve) base() string {
	if s.domain != "" {
		return "https://" + s.domain
	}
	host, port, _ := net.SplitHostPort(s.listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
