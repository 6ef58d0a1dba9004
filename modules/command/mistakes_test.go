package command_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mapsedge/caddy-maps"
)

// asCaddy makes the test's own program be Caddy.
const asCaddy = "MAPS_TEST_AS_CADDY"

func TestMain(m *testing.M) {
	if os.Getenv(asCaddy) != "" {
		caddycmd.Main()
		return
	}
	os.Exit(m.Run())
}

// mistypedCommands are what people type, and the last line of the answer.
var mistypedCommands = map[string]string{
	"maps buld x": `Error: unknown command "buld" for "caddy maps"; did you mean build? It is one of accounts, backup, ` +
		"build, copy-store, health, info, match, organizations, reverse, rotate-keys, route, search, serve, tiles, usage, user-token, verify-store, version",
	"maps compile": `Error: unknown command "compile" for "caddy maps"; it is one of accounts, backup, build, copy-store, ` +
		"health, info, match, organizations, reverse, rotate-keys, route, search, serve, tiles, usage, user-token, verify-store, version",
	"maps build":           "Error: at least one extract is needed",
	"maps build x.osm.pbf": `Error: required flag(s) "output" not set`,
	"maps build missing.osm.pbf --output x.region": "Error: stat missing.osm.pbf: no such file or directory",
	"maps build text.osm.pbf --output x.region": "Error: text.osm.pbf: not an OpenStreetMap extract (.osm.pbf, .osm, .osm.gz, .osm.bz2 or " +
		".osm.zst)",
	"maps build text.osm.pbf --output missing/x.region":       "Error: output: stat missing: no such file or directory",
	"maps build text.osm.pbf --output x.region --memory lots": `Error: --memory: "lots" is not a size such as 1GiB, 800MB or a number of bytes`,
	"maps build text.osm.pbf --output x.region --memory 1KiB": "Error: --memory: 1KiB is not at least 256 MiB, which a build needs",
	"maps build text.osm.pbf --outptu x.region":               "Error: unknown flag: --outptu",
	"maps info":                                               "Error: expected one region file, got 0 arguments",
	"maps info missing.region":                                "Error: stat missing.region: no such file or directory",
	"maps info text.region":                                   "Error: text.region is not a region file of caddy-maps",
	"maps route text.region 39.1,-75.5":                       "Error: a region file and at least two positions are needed",
	"maps route text.region 39.1 -75.5":                       `Error: "39.1" is not a position: write latitude,longitude`,
	"maps route text.region 39.1,-75.5 139,1":                 `Error: lat: "139" is not a number from -90 to 90`,
	"maps route text.region 39,1 39,2 --alternatives 4":       "Error: --alternatives: 4 is not a whole number from 0 to 3",
	"maps route text.region 39,1 39,2 --json --geojson":       "Error: --json and --geojson exclude each other",
	"maps search text.region":                                 "Error: a region file and a query are needed",
	"maps search text.region dover --limit 51":                "Error: --limit: 51 is not a whole number from 1 to 50",
	"maps search text.region dover --near 39.1":               `Error: "39.1" is not a position: write latitude,longitude`,
	"maps search text.region dover --near -91,1":              `Error: lat: "-91" is not a number from -90 to 90`,
	"maps search text.region dover --language d":              `Error: --language: has "d", which is no language tag`,
	"maps search text.region dover":                           "Error: text.region is not a region file of caddy-maps",
	"maps reverse text.region 39.1":                           "Error: a region file, a latitude and a longitude are needed",
	"maps reverse text.region 139.1 -75.5":                    `Error: lat: "139.1" is not a number from -90 to 90`,
	"maps reverse text.region 39.1 -75.5 --size 9":            "Error: --size: 9 is not a whole number from 1 to 5",
	"maps reverse text.region 39.1573,-75.5197":               "Error: text.region is not a region file of caddy-maps",
	"maps match text.region":                                  "Error: a region file and a trace are needed",
	"maps match text.region drive.gpx --profile plane":        `Error: profile: "plane" is not known; there are car, bicycle, foot`,
	"maps match text.region drive.gpx --max-radius -5":        "Error: --max-radius: -5 is not a positive number of metres",
	"maps tiles text.region --output x.pmtiles --max-zoom 30": "Error: --max-zoom: 30 is not a whole number from 0 to 16",
	"maps accounts lits":                                      `Error: unknown command "lits" for "caddy maps accounts"; ` + accountCommands,
	"maps help accounts lits":                                 `Error: unknown command "lits" for "caddy maps accounts"; ` + accountCommands,
	"maps accounts create --organization acme":                `Error: required flag(s) "scopes" not set`,
	"maps accounts create":                                    `Error: required flag(s) "organization", "scopes" not set`,
	"maps accounts create --scope TILE":                       "Error: unknown flag: --scope",
	"maps accounts show":                                      "Error: the id of one account is needed, such as sa_1Yw3Kc0Zq8TdR5mVbN2xHf",
	"maps accounts delete sa_1 sa_2":                          "Error: the id of one account is needed, such as sa_1Yw3Kc0Zq8TdR5mVbN2xHf",
	"maps user-token":                                         `Error: required flag(s) "organization" not set`,
	"maps user-token --organization acme --ttl soon":          `Error: --ttl: "soon" is not a duration, such as 8h`,
	"maps user-token --organization acme --ttl 48h":           "Error: --ttl: 48h is not between 1s and 24h",
	"maps match text.region text.region nope.gpx":             "Error: stat nope.gpx: no such file or directory",
	"maps backup": "Error: name the file to write: caddy maps backup FILE",
	"maps usage --organization a --csv --json":            "Error: --csv and --json exclude each other",
	"maps build x.osm.pbf --output=":                      "Error: --output: must not be empty",
	"maps match text.region text.region --radius -1":      "Error: --radius: must be a number of metres, more than 0 and at most 100",
	"maps match text.region text.region --radius far":     `Error: --radius: "far" is not a number`,
	"maps reverse text.region 39.1 -75.5 --size few":      `Error: --size: "few" is not a whole number`,
	"maps version twice":                                  `Error: no arguments are expected, got "twice"`,
	"maps --verbose":                                      "Error: unknown flag: --verbose",
	"maps copy-store --from accounts.db --to postgres:x":  "Error: --from: must be sqlite:FILE or postgres:CONNECTION-STRING",
	"maps user-token --organization a --console --base x": "Error: --base: must be the address that the site has in a browser, such as https://maps.example.com",
	"maps health --adapter caddyfile":                     "Error: --adapter: needs --config",
	"maps serve text.region --domain https://example.com": `Error: --domain: "https://example.com" is not a name like maps.example.com`,
	"maps serve text.region --listen localhost:http":      `Error: --listen: "localhost:http" is not an address like 127.0.0.1:8080`,
	"maps serve":                            "Error: at least one extract or region file is needed; https://download.geofabrik.de has extracts",
	"maps serve text.osm.pbf --listen 8080": `Error: --listen: "8080" is not an address like 127.0.0.1:8080`,
	"maps user-token --organization acme --address 127.0.0.1:9": "Error: no server answers at 127.0.0.1:9; is it running? " +
		"--address and --config name another one",
	"maps rotate-keys --config missing": "Error: finding the admin API: reading config from file: open missing: no such file or directory",
	"maps rotate-keys --config Broken --adapter caddyfile": "Error: finding the admin API: adapting config using caddyfile: parsing caddyfile tokens for " +
		"'maps': access_token_ttl: 720h is not between 1s and 24h, at Broken:3",
	"validate --config Broken --adapter caddyfile": `"adapting config using caddyfile: parsing caddyfile tokens for 'maps': access_token_ttl: 720h ` +
		`is not between 1s and 24h, at Broken:3"}`,
	"run --config Missing --adapter caddyfile":      `"loading initial config: loading new config: ` + missingRegion,
	"validate --config Missing --adapter caddyfile": `"` + missingRegion,
	"validate --config Directory --adapter caddyfile": `"loading maps app module: provision maps: ` +
		`region delaware: open DIR: is a directory, not a regular file, at Directory:4"}`,
	"validate --config Renamed --adapter caddyfile": `"loading maps app module: provision maps: ` +
		"region delaware: DIR/renamed.region is not a region file of caddy-maps; replace it, or make it with " +
		"`caddy maps build EXTRACT --output DIR/renamed.region`, at Renamed:4\"}",
	"adapt --config Broken --adapter caddyfile": `"parsing caddyfile tokens for 'maps': access_token_ttl: 720h is not between 1s and 24h, at ` +
		`Broken:3"}`,
}

const accountCommands = "did you mean list? It is one of activate, create, delete, list, revoke, show, suspend"

const missingRegion = "loading maps app module: provision maps: region delaware: stat DIR/missing.region: no such file or " +
	"directory; make it with `caddy maps build EXTRACT --output DIR/missing.region`, or write `awaited` if it comes later, " +
	"at Missing:4\"}"

// exitUsage is the code for mistakes on the command line. Commands exit with 1 for other failures.
const exitUsage = 2

// failures are parts of messages that are not about the command line.
var failures = []string{"no such file", "not an OpenStreetMap extract", "not a region file", "no server answers", "Broken:3",
	"not a regular file"}

// TestMistakesOnCommandLine compares what commands say last, and their exit codes.
func TestMistakesOnCommandLine(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"text.osm.pbf":   "this is no extract",
		"text.region":    "this is no region",
		"renamed.region": "\x00\x00\x00\x0d\x0a\x09OSMHeader\x18\x80\x01", // as extracts begin
		"Broken":         "{\n\tmaps {\n\t\taccess_token_ttl 30d\n\t}\n}\n",
		"Missing":        "{\n\tadmin off\n\tmaps {\n\t\tregion delaware missing.region\n\t}\n}\n",
		"Directory":      "{\n\tadmin off\n\tmaps {\n\t\tregion delaware .\n\t}\n}\n",
		"Renamed":        "{\n\tadmin off\n\tmaps {\n\t\tregion delaware renamed.region\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range mistypedCommands {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, strings.Fields(line)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), asCaddy+"=1", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run() // the code is looked at below
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			got := lines[len(lines)-1]
			if _, message, logged := strings.Cut(got, `"msg":`); logged { // without the time
				got = message
			}
			got = strings.ReplaceAll(got, dir, "DIR")
			if last := lines[len(lines)-1]; strings.HasPrefix(last, "Error: ") && len(lines) > 1 {
				t.Errorf("more than the error: %q", lines)
			}
			if strings.ContainsAny(got, "<>") {
				t.Errorf("the error has an angle bracket: %s", got)
			}
			code := exitUsage
			if slices.ContainsFunc(failures, func(text string) bool { return strings.Contains(want, text) }) {
				code = 1
			}
			if got != want || cmd.ProcessState.ExitCode() != code {
				t.Errorf("exit %d\n got %s\nwant %s", cmd.ProcessState.ExitCode(), got, want)
			}
		})
	}
}
