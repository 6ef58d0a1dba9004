package app

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"golang.org/x/net/http/httpguts"

	"github.com/mapsedge/caddy-maps/internal/regions/fetch"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// RegionConfig is one region of the configuration: a region file on this machine, or one that this server downloads.
type RegionConfig struct {
	// The region file: a path, or an http or https URL to download it from. Placeholders are replaced. The file is
	// checked every 2 seconds, and a new one replaces it without dropping a request. A damaged one is refused, and the
	// last good one stays in service. Replace a file by renaming: one that is overwritten in place is damaged until it is
	// complete. Downloads are verified first; without one, the server starts and the region's requests get 503. A password
	// in a URL must be a placeholder. Required.
	Path string `json:"path,omitempty"`

	// Whether the server starts without the file. Requests that need the region get 503 until the file appears. Only for
	// paths; a region from a URL never prevents a start. Default: false.
	Awaited bool `json:"awaited,omitempty"`

	// The time between two requests to the URL for a new file, at least 10 seconds. Each interval is up to 10% shorter, at
	// random. After a failure it starts at 2 seconds and grows, and it respects Retry-After. Default: 1 hour.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// The directory of downloaded files. It needs room for two of each. Servers on one machine may share it. Placeholders
	// are replaced. Default: `maps/regions` in Caddy's data directory.
	CacheDir string `json:"cache_dir,omitempty"`

	// Header fields for requests to the URL, such as `Authorization`. They are not sent to another host after a redirect.
	// Placeholders in values are replaced; credentials must be placeholders. Default: none.
	Header http.Header `json:"header,omitempty"`

	// How long the server may take to respond, and then to send each 64 KiB. Default: 30 seconds.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// The largest file to download, in bytes. Default: no limit.
	MaxSize int64 `json:"max_size,omitempty"`

	// How long a start or reload waits for the first download. Then a start continues, and a reload is refused.
	// Default: not at all.
	Wait caddy.Duration `json:"wait,omitempty"`
}

const (
	defaultRefresh = time.Hour
	defaultTimeout = 30 * time.Second
	minRefresh     = 10 * time.Second
)

var (
	scheme      = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]+)://`)
	extracts    = regexp.MustCompile(`\.(pbf|osm|osm\.(gz|bz2|zst))$`)
	urlPassword = regexp.MustCompile(`^[^/]*://[^/?#]*:([^/?#]*)@`)
	// reservedHeaders are set by the mirror.
	reservedHeaders = []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since", "Accept-Encoding",
		"Content-Length", "Transfer-Encoding", "Connection"}
	// credentialHeaders contain credentials.
	credentialHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie"}

	errLiteralSecret = errors.New("a password written into the configuration is refused, because Caddy shows and saves " +
		"its configuration; use {env.NAME} or {file./path/to/file}")
)

// provision returns the absolute path of a region's file and, if it is downloaded, the options of its mirror.
func (c *RegionConfig) provision(name string) (file string, from *fetch.Options, err error) {
	if c == nil {
		return "", nil, options.Errorf("path", "missing")
	}
	where, err := options.Replace(c.Path)
	if err != nil {
		return "", nil, options.Wrap("path", err)
	}
	u, err := c.check(where)
	if err != nil {
		return "", nil, err
	}
	if u == nil {
		// Links are not resolved: a link that points to another file is a replaced file.
		file, err = filepath.Abs(where)
		return file, nil, options.Wrap("path", err)
	}
	dir, err := options.Replace(c.CacheDir)
	if err == nil {
		dir, err = filepath.Abs(cmp.Or(dir, filepath.Join(caddy.AppDataDir(), "maps", "regions")))
	}
	if err != nil {
		return "", nil, options.Wrap("cache_dir", err)
	}
	from = &fetch.Options{URL: u, Path: fetch.CopyPath(dir, name, u), MaxSize: c.MaxSize, Header: make(http.Header),
		Refresh: cmp.Or(time.Duration(c.Refresh), defaultRefresh),
		Timeout: cmp.Or(time.Duration(c.Timeout), defaultTimeout)}
	for field, values := range c.Header {
		for _, value := range values {
			value, err := options.Replace(value)
			if err == nil && !httpguts.ValidHeaderFieldValue(value) {
				err = errors.New("its value has a line break or another control character")
			}
			if err != nil {
				return "", nil, options.Errorf("header", "%s: %w", field, err)
			}
			from.Header.Add(field, value)
		}
	}
	return from.Path, from, nil
}

// check validates a region whose path is where once placeholders are replaced. It returns the URL if the region is
// downloaded.
func (c *RegionConfig) check(where string) (*url.URL, error) {
	found := scheme.FindStringSubmatch(where)
	switch {
	case where == "":
		return nil, options.Errorf("path", "missing")
	case found == nil:
		return nil, c.checkFile(where)
	case !strings.EqualFold(found[1], "http") && !strings.EqualFold(found[1], "https"):
		return nil, options.Errorf("path", "a region is fetched by http or https, not by %s; "+
			"serve it through a gateway, or copy the file to this machine", found[1])
	}
	if found := urlPassword.FindStringSubmatch(c.Path); found != nil && !hasPlaceholder(found[1]) && found[1] != "" {
		return nil, options.Errorf("path", "%w", errLiteralSecret)
	}
	u, err := url.Parse(where)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, options.Errorf("path", "it is not a valid URL") // the parser's error could show a password
	case c.Awaited:
		return nil, options.Errorf("awaited", "only for a file of this machine; a region from a URL never prevents a start")
	case c.Refresh != 0 && time.Duration(c.Refresh) < minRefresh:
		return nil, options.Errorf("refresh", "%v is less than %v", time.Duration(c.Refresh), minRefresh)
	case c.Timeout != 0 && time.Duration(c.Timeout) < time.Second:
		return nil, options.Errorf("timeout", "%v is less than 1s", time.Duration(c.Timeout))
	case c.MaxSize < 0:
		return nil, options.Errorf("max_size", "must not be negative")
	case c.Wait < 0:
		return nil, options.Errorf("wait", "must not be negative")
	}
	for name, values := range c.Header {
		switch canonical := http.CanonicalHeaderKey(name); {
		case !httpguts.ValidHeaderFieldName(name):
			return nil, options.Errorf("header", "%q is not a valid field name", name)
		case slices.Contains(reservedHeaders, canonical):
			return nil, options.Errorf("header", "%s cannot be set", canonical)
		case slices.Contains(credentialHeaders, canonical) &&
			slices.ContainsFunc(values, func(value string) bool { return !hasPlaceholder(value) }):
			return nil, options.Errorf("header", "%s: %w", canonical, errLiteralSecret)
		}
	}
	return u, refuseExtract(u.Path)
}

// checkFile refuses options that have no effect on a file of this machine.
func (c *RegionConfig) checkFile(where string) error {
	for option, set := range map[string]bool{
		"refresh": c.Refresh != 0, "cache_dir": c.CacheDir != "", "header": len(c.Header) > 0, "timeout": c.Timeout != 0,
		"max_size": c.MaxSize != 0, "wait": c.Wait != 0,
	} {
		if set {
			return options.Errorf(option,
				"only for regions that are fetched from a URL, and %s is a file of this machine", c.Path)
		}
	}
	return refuseExtract(where)
}

// refuseExtract refuses OpenStreetMap extracts, from which region files are made.
func refuseExtract(where string) error {
	if !extracts.MatchString(where) {
		return nil
	}
	return options.Errorf("path", "%s is an OpenStreetMap extract; compile it with `caddy maps build`, "+
		"and use the region file", path.Base(filepath.ToSlash(where)))
}

func hasPlaceholder(text string) bool {
	_, rest, found := strings.Cut(text, "{")
	return found && strings.Contains(rest, "}")
}

func (a *App) unmarshalRegion(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) != 2 {
		return options.ErrCount
	}
	name := args[0]
	if err := checkRegionName(name); err != nil {
		return err
	}
	if _, twice := a.Regions[name]; twice {
		return fmt.Errorf("%s already exists", name)
	}
	if a.Regions == nil {
		a.Regions = make(map[string]*RegionConfig)
	}
	c := &RegionConfig{Path: args[1]}
	a.Regions[name] = c
	check := func() error {
		if hasPlaceholder(c.Path) {
			return nil // it may be a file or a URL
		}
		_, err := c.check(c.Path)
		if without := withoutPath(err); without != err {
			return fmt.Errorf("region %s: %w", name, without)
		}
		return err
	}
	return options.Block(d, "region "+name, check,
		options.Option{Name: "awaited", Read: options.Flag(&c.Awaited)},
		options.Option{Name: "refresh", Args: "<duration>", Read: options.Duration(&c.Refresh)},
		options.Option{Name: "cache_dir", Args: "<directory>", Read: options.Text(&c.CacheDir)},
		options.Option{Name: "header", Args: "<field> <value>", Read: c.unmarshalHeader, Repeats: true},
		options.Option{Name: "timeout", Args: "<duration>", Read: options.Duration(&c.Timeout)},
		options.Option{Name: "max_size", Args: "<size>", Read: options.Size(&c.MaxSize)},
		options.Option{Name: "wait", Args: "<duration>", Read: options.Duration(&c.Wait)},
	)
}

// withoutPath returns an error of the option `path` without the name of that option, which Caddyfiles do not have.
func withoutPath(err error) error {
	if fault, ok := errors.AsType[*options.Error](err); ok && fault.Option == "path" {
		return fault.Err
	}
	return err
}

func (c *RegionConfig) unmarshalHeader(d *caddyfile.Dispenser) error {
	var name, value string
	if !d.AllArgs(&name, &value) {
		return options.ErrCount
	}
	if c.Header == nil {
		c.Header = make(http.Header)
	}
	c.Header.Add(name, value)
	return nil
}
