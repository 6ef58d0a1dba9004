package mapsapp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"golang.org/x/net/http/httpguts"

	"github.com/mapsedge/caddy-maps/internal/mirror"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// RegionConfig is one region of the configuration: a region file that somebody puts into place on this machine, or one
// that this server fetches itself.
type RegionConfig struct {
	// The region file, made by `caddy maps build`: its path, or an http or https URL from which this server fetches it.
	// Placeholders are replaced. Required.
	//
	// A relative path starts at the working directory. The file is looked at every 2 seconds, and a new one is swapped in
	// without dropping a request. Replace it by renaming: a file that is written over in place is damaged until it is
	// whole again.
	//
	// From a URL the file is fetched to `cache_dir`, and checked before it is served. Whatever goes wrong, the file of
	// before is served. Without one, the server starts all the same, and answers requests that need the region with 503
	// until the file is there. A password in the URL must be a placeholder. The URL is shown and logged without userinfo
	// and query.
	Path string `json:"path,omitempty"`

	// The file may come later: the server starts without it, and answers requests that need the region with 503 until
	// the file is there. It is for a path; a region from a URL may come later in any case.
	// Default: false, and the server does not start without the file.
	Awaited bool `json:"awaited,omitempty"`

	// How often the server of the URL is asked for another file, at least 10 seconds; each time up to a tenth earlier, by
	// chance. After a failure it is asked sooner, from 2 seconds on, and later where it says so by Retry-After.
	// Default: 1 hour.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// The directory in which files from URLs are kept, with room for two of each. Servers on one machine may share it.
	// Placeholders are replaced. Default: `maps/regions` in Caddy's data directory.
	CacheDir string `json:"cache_dir,omitempty"`

	// Fields that are sent to the server of the URL, such as `Authorization`, but not to another host that it redirects
	// to. Placeholders in values are replaced; credentials must be placeholders. Default: none.
	Header http.Header `json:"header,omitempty"`

	// How long the server of the URL may take to answer, and then for each 4 KiB. Default: 30 seconds.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// The largest file that is fetched, in bytes. Default: whatever fits on the disk.
	MaxSize int64 `json:"max_size,omitempty"`

	// How long a start or a reload waits for the first file from the URL. After that a start goes on, and a reload is
	// refused, so that the configuration of before goes on. Default: not at all.
	Wait caddy.Duration `json:"wait,omitempty"`
}

const (
	defaultRefresh = time.Hour
	defaultTimeout = 30 * time.Second
	minRefresh     = 10 * time.Second
)

// remote is where and how a region is fetched.
type remote struct {
	url              *url.URL
	header           http.Header
	dir              string
	refresh, timeout time.Duration
	maxSize          int64
}

// key is the same for configurations that fetch in the same way. It holds no secret in clear.
func (r *remote) key(path string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d %d", r.url.String(), r.header, path,
		r.refresh, r.timeout, r.maxSize))
	return string(sum[:])
}

var (
	scheme      = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]+)://`)
	extracts    = regexp.MustCompile(`\.(pbf|osm|osm\.(gz|bz2|zst))$`)
	urlPassword = regexp.MustCompile(`^[^/]*://[^/?#]*:([^/?#]*)@`)
	// own are set by the mirror.
	own = []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since", "Accept-Encoding", "Content-Length",
		"Transfer-Encoding", "Connection"}
	// confidential hold credentials whatever they say.
	confidential = []string{"Authorization", "Proxy-Authorization", "Cookie"}

	errLiteralSecret = errors.New("a password written into the configuration is refused, because Caddy shows and saves " +
		"its configuration; use {env.NAME} or {file./path/to/file}")
)

// provision resolves a region: the absolute path of its file, and, where that is fetched, from where.
func (c *RegionConfig) provision(name string, resolve resolver) (file string, from *remote, err error) {
	if c == nil || c.Path == "" {
		return "", nil, options.Wrong("path", "missing")
	}
	where, err := resolve(c.Path, c.Path)
	if err != nil {
		return "", nil, options.Of("path", err)
	}
	switch found := scheme.FindStringSubmatch(where); {
	case found == nil:
		if err := c.refuseRemoteOptions(); err != nil {
			return "", nil, err
		}
		if err := refuseExtract(where); err != nil {
			return "", nil, err
		}
		// Links are not resolved: one that is pointed at another file is a replaced file.
		if file, err = filepath.Abs(where); err != nil {
			return "", nil, options.Of("path", err)
		}
		return file, nil, nil
	case !strings.EqualFold(found[1], "http") && !strings.EqualFold(found[1], "https"):
		return "", nil, options.Wrong("path", "a region is fetched by http or https, not by %s; "+
			"let a gateway serve it, or copy it here and name the file", found[1])
	}
	if from, err = c.provisionRemote(resolve, where); err != nil {
		return "", nil, err
	}
	return mirror.CopyPath(from.dir, name, from.url), from, nil
}

// refuseRemoteOptions finds options that would do nothing.
func (c *RegionConfig) refuseRemoteOptions() error {
	for option, set := range map[string]bool{
		"refresh": c.Refresh != 0, "cache_dir": c.CacheDir != "", "header": len(c.Header) > 0, "timeout": c.Timeout != 0,
		"max_size": c.MaxSize != 0, "wait": c.Wait != 0,
	} {
		if set {
			return options.Wrong(option,
				"it is for regions that are fetched from a URL, and %s is a file of this machine", c.Path)
		}
	}
	return nil
}

// refuseExtract finds the map data that a region file is made of in its place, which would be found out only when it is
// opened.
func refuseExtract(where string) error {
	if !extracts.MatchString(where) {
		return nil
	}
	return options.Wrong("path", "%s is an extract; compile it with `caddy maps build`, and name the region "+
		"file that this writes", path.Base(filepath.ToSlash(where)))
}

func (c *RegionConfig) provisionRemote(resolve resolver, where string) (*remote, error) {
	if found := urlPassword.FindStringSubmatch(c.Path); found != nil && !hasPlaceholder(found[1]) && found[1] != "" {
		return nil, options.Wrong("path", "%w", errLiteralSecret)
	}
	if c.Awaited {
		return nil, options.Wrong("awaited", "it is for a file of this machine; what a URL names may come later in any case")
	}
	r := &remote{refresh: time.Duration(c.Refresh), timeout: time.Duration(c.Timeout), maxSize: c.MaxSize}
	var err error
	if r.url, err = url.Parse(where); err != nil || r.url.Hostname() == "" {
		return nil, options.Wrong("path", "it begins as a URL and is none") // what is wrong may be a part of a password
	}
	if err := refuseExtract(r.url.Path); err != nil {
		return nil, err
	}
	if r.refresh == 0 {
		r.refresh = defaultRefresh
	}
	if r.timeout == 0 {
		r.timeout = defaultTimeout
	}
	switch {
	case r.refresh < minRefresh:
		return nil, options.Wrong("refresh", "%v is less than %v", r.refresh, minRefresh)
	case r.timeout < time.Second:
		return nil, options.Wrong("timeout", "%v is less than 1s", r.timeout)
	case r.maxSize < 0:
		return nil, options.Wrong("max_size", "must not be negative")
	case c.Wait < 0:
		return nil, options.Wrong("wait", "must not be negative")
	}
	if r.dir, err = resolve(c.CacheDir, c.CacheDir); err != nil {
		return nil, options.Of("cache_dir", err)
	}
	if r.dir == "" {
		r.dir = filepath.Join(caddy.AppDataDir(), "maps", "regions")
	}
	if r.dir, err = filepath.Abs(r.dir); err != nil {
		return nil, options.Of("cache_dir", err)
	}
	r.header, err = c.provisionHeader(resolve)
	return r, err
}

func (c *RegionConfig) provisionHeader(resolve resolver) (http.Header, error) {
	header := make(http.Header, len(c.Header))
	for name, values := range c.Header {
		name := http.CanonicalHeaderKey(name)
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, options.Wrong("header", "%q is no name of a field", name)
		}
		for _, forbidden := range own {
			if name == forbidden {
				return nil, options.Wrong("header", "%s is not for the configuration to set", name)
			}
		}
		for _, value := range values {
			for _, secret := range confidential {
				if name == secret && !hasPlaceholder(value) {
					return nil, options.Wrong("header", "%s: %w", name, errLiteralSecret)
				}
			}
			value, err := resolve(value, "x")
			if err != nil {
				return nil, options.Wrong("header", "%s: %w", name, err)
			}
			if !httpguts.ValidHeaderFieldValue(value) {
				return nil, options.Wrong("header", "%s: its value has a line break or another control character", name)
			}
			header.Add(name, value)
		}
	}
	return header, nil
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
	if _, twice := a.Regions[name]; twice {
		return fmt.Errorf("%s is there already", name)
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
		_, _, err := c.provision(name, whileParsing)
		if fault, ok := errors.AsType[*options.Fault](err); ok && fault.Option == "path" {
			return fmt.Errorf("region %s: %w", name, fault.Err) // in a Caddyfile the path has no name
		}
		return err
	}
	return options.Block(d, "region "+name, check,
		options.Option{Name: "awaited", Read: options.Flag(&c.Awaited)},
		options.Option{Name: "refresh", Takes: "<duration>", Read: options.Duration(&c.Refresh)},
		options.Option{Name: "cache_dir", Takes: "<directory>", Read: options.Text(&c.CacheDir)},
		options.Option{Name: "header", Takes: "<field> <value>", Read: c.unmarshalHeader, Repeats: true},
		options.Option{Name: "timeout", Takes: "<duration>", Read: options.Duration(&c.Timeout)},
		options.Option{Name: "max_size", Takes: "<size>", Read: options.Size(&c.MaxSize)},
		options.Option{Name: "wait", Takes: "<duration>", Read: options.Duration(&c.Wait)},
	)
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
