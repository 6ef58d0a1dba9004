package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// folder is an example: a Caddyfile, and a README which says how to start it and what to ask it. Both are used as they
// stand, but for the addresses.
type folder struct {
	*server
	t     *testing.T
	site  string // URL
	start string // the commands before `caddy run`
	try   string // those after it
}

// Addresses of the site in Caddyfiles, and in documents, without those of nodes.
var (
	siteLine    = regexp.MustCompile(`(?m)^(maps\.example\.com|:8080) \{$`)
	siteAddress = regexp.MustCompile(`\b(maps\.example\.com|localhost:8080)\b`)
)

// newFolder prepares an example with pairs of texts replaced, in a directory of its own. Its site listens on this
// machine alone, beside another that tells whether the server is healthy.
func newFolder(t *testing.T, name string, replacements ...string) *folder {
	t.Helper()
	for _, program := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	examples := filepath.Join(t.TempDir(), "examples")
	if err := os.CopyFS(examples, os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	s, err := newServerIn(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	address, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{server: s, t: t}
	edit := func(text string) string {
		for i := 0; i < len(replacements); i += 2 {
			text = strings.ReplaceAll(text, replacements[i], replacements[i+1])
		}
		return text
	}
	caddyfile, err := os.ReadFile(filepath.Join(root, "examples", name, "Caddyfile"))
	if err != nil {
		t.Fatal(err)
	}
	text := edit(string(caddyfile))
	line := siteLine.FindString(text)
	if line == "" {
		t.Fatalf("there is no site:\n%s", text)
	}
	if !strings.Contains(text, "\n{\n") {
		text = strings.Replace(text, line, "{\n}\n\n"+line, 1)
	}
	host := strings.Replace(address, "127.0.0.1", "localhost", 1)
	f.site = "https://" + host
	if strings.HasPrefix(line, ":") {
		f.site = "http://" + host
	}
	text = strings.Replace(text, line, f.site+" {", 1)
	// The server may not write to the system's certificates, nor take ports that others use.
	text = strings.Replace(text, "\n{\n", "\n{\n\tadmin "+s.admin+"\n\tdefault_bind 127.0.0.1\n\tskip_install_trust\n"+
		"\tauto_https disable_redirects\n", 1)
	text += fmt.Sprintf("\nhttp://127.0.0.1:%s {\n\tmaps_health /healthz\n}\n", s.port)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	blocks := readBlocks(t, "examples/"+name+"/README.md", "sh")
	if len(blocks) != 2 {
		t.Fatalf("README.md has %d blocks of commands", len(blocks))
	}
	commands := func(i int) string { return siteAddress.ReplaceAllLiteralString(edit(blocks[i].Text), host) }
	f.try = commands(1)
	var starts bool
	if f.start, starts = strings.CutSuffix(commands(0), "caddy run\n"); !starts {
		t.Fatalf("%q does not start the server", blocks[0].Text)
	}
	t.Cleanup(func() {
		s.end(t)
		if err := s.searchSecrets(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// buildDelaware is the command of the READMEs that compiles the region.
const buildDelaware = "caddy maps build delaware-latest.osm.pbf --output delaware.region\n"

// compile compiles the region as the README says, which run leaves out.
func (f *folder) compile() {
	f.t.Helper()
	f.link(extract, "delaware-latest.osm.pbf")
	f.shell(buildDelaware)
}

func (f *folder) link(path, name string) {
	f.t.Helper()
	if err := os.Symlink(path, filepath.Join(f.dir, name)); err != nil {
		f.t.Fatal(err)
	}
}

// run starts the example as its README says. Unless it was compiled, its region is the one that tests share.
func (f *folder) run() {
	f.t.Helper()
	start, compiles := strings.Replace(f.start, buildDelaware, "", 1), strings.Contains(f.start, buildDelaware)
	if _, err := os.Stat(filepath.Join(f.dir, "delaware.region")); compiles && err != nil {
		f.link(region, "delaware.region")
	}
	f.shell(start)
	if err := f.server.start(); err != nil {
		f.t.Fatal(err)
	}
	// Caddy makes the certificate while it serves already.
	f.shell("curl -s -o /dev/null --retry 30 --retry-delay 1 --retry-all-errors " + f.site)
	log, err := os.ReadFile(f.log)
	if err != nil {
		f.t.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		var entry struct{ Level, Logger, Msg string }
		if json.Unmarshal(line, &entry) == nil && (entry.Level == "error" ||
			entry.Level == "warn" && strings.Contains(entry.Logger, "maps")) {
			f.t.Errorf("the start is not clean: %s", line)
		}
	}
}

// shell runs commands of a README up to the first that fails, and returns what they print.
func (f *folder) shell(script string) string {
	f.t.Helper()
	bin := filepath.Join(f.t.TempDir(), "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Symlink(plain, filepath.Join(bin, "caddy")); err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", script)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "CADDY_ADMIN="+f.admin,
		"CURL_CA_BUNDLE="+filepath.Join(f.dir, "xdg-data", "caddy", "pki", "authorities", "local", "root.crt"))
	cmd.Env = append(cmd.Env, f.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		f.t.Fatalf("%s\n%v\n%s%s", script, err, out.Bytes(), errs.Bytes())
	}
	return out.String()
}

// wantNotFound checks that what is not there is told in JSON.
func (f *folder) wantNotFound() {
	f.t.Helper()
	got := f.shell(`curl -s -w ' %{http_code} %{content_type}' ` + f.site + "/nothing")
	if got != "{\"error\":\"not found\"}\n 404 application/json" {
		f.t.Errorf("what is not there: %s", got)
	}
}

// inDover checks an answer of reverse geocoding.
func (f *folder) inDover(answer string) {
	f.t.Helper()
	var body struct {
		Data struct {
			Results []struct {
				Address struct {
					CountryCode string `json:"country_code"`
					City        string `json:"city"`
				} `json:"address"`
			} `json:"results"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(answer), &body); err != nil {
		f.t.Fatalf("%v: %s", err, answer)
	}
	if found := body.Data.Results; len(found) == 0 || found[0].Address.City != "Dover" ||
		found[0].Address.CountryCode != "USA" {
		f.t.Errorf("not in Dover: %s", answer)
	}
}

// Every folder of examples/ has a test that runs it.
func TestExampleFolders(t *testing.T) {
	leaveOut(t, "follows documents")
	t.Parallel()
	tests := map[string]func(t *testing.T){
		"one-server": runOneServer, "osrm": runOSRM, "cluster": runCluster, "openid-connect": runOpenIDConnect,
		"tiles-and-console": runTilesAndConsole, "own-api": runOwnAPI,
		"sharding": nil, // TestSharding
		"engines":  nil, // TestFronting
		"proxies":  nil, // TestForwardAuth, TestNginx, TestTraefik
		"restore":  nil, // TestDrill
	}
	entries, err := os.ReadDir(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(root, "examples", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		name := entry.Name()
		run, known := tests[name]
		if !known {
			t.Errorf("nothing runs examples/%s", name)
		}
		if !bytes.Contains(list, []byte("]("+name+"/README.md)")) {
			t.Errorf("examples/README.md does not list %s", name)
		}
		if run != nil {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				run(t)
			})
		}
	}
}

func runOneServer(t *testing.T) {
	f := newFolder(t, "one-server")
	f.compile()
	f.run()
	f.inDover(f.shell(f.try))
	f.wantNotFound()
	// The token of the README is good for the matcher, too.
	drive := strings.Replace(f.try, `/v2/search/reverse-geocoding?lat=39.1573&lon=-75.5197`, matchPath(dover, ""), 1)
	if got := f.shell(drive); !strings.Contains(got, `"coordinates"`) {
		t.Errorf("no drive: %s", got)
	}
}

func runOSRM(t *testing.T) {
	upstream := newRecorder(t)
	f := newFolder(t, "osrm", "localhost:5000", strings.TrimPrefix(upstream.URL, "http://"))
	f.run()
	if got := f.shell(f.try); got != `{"ok":true}` {
		t.Errorf("the answer is not OSRM's: %s", got)
	}
	asked := upstream.take()
	if len(asked) != 1 {
		t.Fatalf("OSRM was asked %d times", len(asked))
	}
	if got := asked[0]; got.uri != "/route/v1/driving/-75.5293,39.1573;-75.5246,39.1580" ||
		got.header.Get("X-Account") == "" || got.header.Get("Authorization") != "" {
		t.Errorf("OSRM was asked %s with %v", got.uri, got.header)
	}
	if got := f.shell("curl -s -o /dev/null -w '%{http_code}' " + f.site + "/osrm/route/v1/driving/1,1"); got != "401" {
		t.Errorf("without a token the status is %s", got)
	}
	if asked := upstream.take(); len(asked) > 0 {
		t.Error("OSRM was asked without a token")
	}
	f.wantNotFound()
}

func runOwnAPI(t *testing.T) {
	upstream := newRecorder(t)
	f := newFolder(t, "own-api", "localhost:5000", strings.TrimPrefix(upstream.URL, "http://"))
	f.run()
	if got := f.shell(f.try); got != `{"ok":true}` {
		t.Errorf("the answer is not the API's: %s", got)
	}
	asked := upstream.take()
	if len(asked) != 1 || asked[0].uri != "/orders/1" || asked[0].header.Get("Authorization") != "" {
		t.Errorf("the API was asked %+v", asked)
	}
	other := strings.Replace(f.try, "curl -s", "curl -s -o /dev/null -w '%{http_code}'", 1)
	if got := f.shell(strings.Replace(other, "/orders/1", "/invoices/1", 1)); got != "403" {
		t.Errorf("with the other scope the status is %s", got)
	}
	if got := f.shell("curl -s -o /dev/null -w '%{http_code}' " + f.site + "/orders/1"); got != "401" {
		t.Errorf("without a token the status is %s", got)
	}
	if asked := upstream.take(); len(asked) > 0 {
		t.Error("the API was asked without a right")
	}
}

func runCluster(t *testing.T) {
	dsn := pgtest.DSN(t)
	second := newFolder(t, "cluster", "postgres://maps@db.example.com/maps", "'"+dsn+"'")
	first := newFolder(t, "cluster", "postgres://maps@db.example.com/maps", "'"+dsn+"'", "http://node-2:8080", second.site)
	first.try = strings.ReplaceAll(first.try, "http://node-1:8080", first.site)
	first.env, second.env = []string{"MAPS_DATABASE_URL=" + dsn}, []string{"MAPS_DATABASE_URL=" + dsn}
	first.run()
	second.run()
	first.inDover(first.shell(first.try))
	second.wantNotFound()
	if got := second.shell("curl -s " + second.site + "/healthz"); !strings.Contains(got, `"status":"ok"`) {
		t.Errorf("health: %s", got)
	}
}

func runOpenIDConnect(t *testing.T) {
	i := newIssuer(t)
	f := newFolder(t, "openid-connect", "https://id.example.com/.well-known/jwks.json", i.URL)
	f.run()
	for role, want := range map[string]string{"maps-admin": `"data":[]`, "viewer": `"error"`} {
		f.env = []string{"ID_TOKEN=" + i.token("caddy-maps-console", "acme", role)}
		if got := f.shell(f.try); !strings.Contains(got, want) {
			t.Errorf("the list of accounts, as %s: %s", role, got)
		}
	}
	settings := f.shell("curl -s " + f.site + "/console/ -o /dev/null -w '%{http_code} ' " + f.site +
		"/console/sign-in.json -o -")
	if !strings.HasPrefix(settings, "200 ") || !strings.Contains(settings, "https://id.example.com/authorize") {
		t.Errorf("sign-in is not possible: %s", settings)
	}
	if got := f.shell("caddy maps user-token --organization acme 2>&1 || true"); !strings.Contains(got, "local") {
		t.Errorf("the operator's user token: %s", got)
	}
	f.wantNotFound()
}

func runTilesAndConsole(t *testing.T) {
	f := newFolder(t, "tiles-and-console")
	f.run()
	got := f.shell(f.try)
	var tiles struct {
		Version string   `json:"tilejson"`
		Tiles   []string `json:"tiles"`
	}
	printed := json.NewDecoder(strings.NewReader(got))
	if err := printed.Decode(&tiles); err != nil || tiles.Version != "3.0.0" || len(tiles.Tiles) == 0 {
		t.Fatalf("%v: %s", err, got)
	}
	rest := got[printed.InputOffset():]
	pages := regexp.MustCompile(`http://localhost:\d+/(playground|console)/#token=(\S+)`).FindAllStringSubmatch(rest, -1)
	if len(pages) != 2 || pages[0][1] != "playground" || pages[1][1] != "console" {
		t.Fatalf("the pages are %s", rest)
	}
	for _, page := range pages {
		secret(page[2])
		got := f.shell("curl -s -o /dev/null -w '%{http_code} %{content_type}' '" + page[0] + "'")
		if !strings.HasPrefix(got, "200 text/html") {
			t.Errorf("%s: %s", page[1], got)
		}
	}
	tile := strings.NewReplacer("{z}", "14", "{x}", "4755", "{y}", "6253").Replace(tiles.Tiles[0])
	if !strings.Contains(tile, "?") {
		tile += "?apiKey=" + pages[0][2]
	}
	got = f.shell("curl -s -o /dev/null -w '%{http_code} %{size_download}' '" + tile + "'")
	if !strings.HasPrefix(got, "200 ") || got == "200 0" {
		t.Errorf("%s: %s", tile, got)
	}
	list := "curl -s " + f.site + accounts + " -H 'Authorization: Bearer " + pages[1][2] + "'"
	if got := f.shell(list); !strings.Contains(got, `"TILE"`) {
		t.Errorf("the console's list: %s", got)
	}
	f.wantNotFound()
}
