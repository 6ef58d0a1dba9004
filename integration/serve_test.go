package integration

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// `caddy maps serve` as a newcomer runs it: from an extract to a matched drive with the lines that it prints. A second
// start neither compiles nor shows the tokens again, and the configuration that it prints serves the same.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	extract := filepath.Join(dir, "delaware-latest.osm.pbf")
	copyFile(t, testkit.Extract(t, testkit.Delaware), extract)
	data := filepath.Join(dir, "data")
	listen, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	admin, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(plain, append([]string{"maps", "serve", extract, "--data", data, "--listen", listen}, args...)...)
		cmd.Env = append(os.Environ(), "CADDY_ADMIN="+admin, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		return cmd
	}
	serve := func(name string) (printed string, stop func()) {
		t.Helper()
		out, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		cmd := command()
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan error, 1)
		go func() { exited <- cmd.Wait() }()
		stop = func() {
			_ = cmd.Process.Signal(os.Interrupt)
			select {
			case <-exited:
			case <-time.After(20 * time.Second):
				_ = cmd.Process.Kill()
				t.Error("the server does not end")
			}
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			text, err := os.ReadFile(out.Name())
			if strings.Contains(string(text), "--console\n") {
				return string(text), stop
			}
			if err != nil || time.Now().After(deadline) {
				stop()
				t.Fatalf("it does not serve: %v\n%s", err, text)
			}
		}
	}

	first, stop := serve("first")
	defer func() { stop() }()
	for _, want := range []string{"compiling " + extract, "client token  mpc_", "server token  mps_", "map         http://" + listen} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not printed:\n%s", want, first)
		}
	}
	if _, err := exec.LookPath("curl"); err == nil {
		script := regexp.MustCompile(`(?m)^  (TOKEN=.*\\\n.*|curl .*)$`).FindAllString(first, -1)
		cmd := exec.Command("sh", "-ec", strings.Join(script, "\n"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), `"display_name":"`) ||
			!strings.Contains(string(out), `{"coordinates":[[`) {
			t.Errorf("%v\n%s\n%s%s", err, script, out, &stderr)
		}
	}
	key := regexp.MustCompile(`mpk_\w+`).FindString(first)
	tile := func(origin string) int {
		req, _ := http.NewRequest(http.MethodGet, "http://"+listen+"/tiles/delaware/7/37/48.mvt?apiKey="+key, nil)
		req.Header.Set("Referer", origin+"/playground/")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if status := tile("http://" + listen); status != 200 {
		t.Errorf("the map's key: %d", status)
	}
	if status := tile("https://other.example.com"); status != 403 {
		t.Errorf("the map's key on another page: %d", status)
	}
	if out, err := command("--guest").CombinedOutput(); err == nil || !strings.Contains(string(out), "is in use") {
		t.Errorf("a second server: %v\n%s", err, out)
	}
	stop()

	second, stopSecond := serve("second")
	stop = stopSecond
	if strings.Contains(second, "compiling") || strings.Contains(second, "mps_") && !strings.Contains(second, "mps_…") ||
		!strings.Contains(second, key) {
		t.Errorf("the second start:\n%s", second)
	}
	out, err := command("--print-config").Output()
	if err != nil || !strings.Contains(string(out), "maps_service \""+filepath.Join(data, "delaware.region")) {
		t.Errorf("%v\n%s", err, out)
	}
	if config, refusal := adapt(t, string(out)); config == nil {
		t.Errorf("the configuration is refused: %s", refusal)
	}
	if conn, err := net.Dial("tcp", admin); err != nil {
		t.Error(err)
	} else {
		conn.Close()
	}
}

// Mistakes of `caddy maps serve` are named before anything is compiled.
func TestServeMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"notes.txt", "a.osm.pbf", "a-latest.osm.pbf"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no extract"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"":                           "at least one extract or region file is needed",
		"missing.osm.pbf":            "https://download.geofabrik.de has extracts",
		".":                          "is a directory",
		"notes.txt":                  "notes.txt is neither an extract",
		"a.osm.pbf a-latest.osm.pbf": "another source has the region file",
		"a.osm.pbf --listen 8080":    `--listen: "8080" is not an address like 127.0.0.1:8080`,
		"a.osm.pbf --listen 1.2.3.4:1 --domain x.example.com": "--listen and --domain exclude each other",
		"a.osm.pbf --listen 127.0.0.1:0":                      "a.osm.pbf",
	} {
		cmd := exec.Command(plain, append([]string{"maps", "serve", "--data", filepath.Join(dir, "data")}, strings.Fields(args)...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CADDY_ADMIN=127.0.0.1:0")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}
