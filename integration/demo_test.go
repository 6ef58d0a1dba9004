package integration

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// `make demo` as a user runs it: twice, each time until its credentials are there, and interrupted then. Every curl
// line that it prints works when it is pasted.
func TestMakeDemo(t *testing.T) {
	leaveOut(t, "builds the server and a map anew")
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Log("needs make and signals")
		return
	}
	dir := t.TempDir()
	port, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	admin, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	// The server of these tests was built by the same command, which links it anew where it is another.
	if err := os.Link(plain, filepath.Join(dir, "caddy")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "credentials.json")
	var built time.Time
	for round := range 2 {
		output := filepath.Join(dir, "output")
		out, err := os.Create(output)
		if err != nil {
			t.Fatal(err)
		}
		printed := func() string {
			text, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		cmd := exec.Command("make", "demo", "DEMO_DIR="+dir)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "MAPS_PORT="+portOf(port), "MAPS_ADMIN="+admin)
		cmd.Stdout, cmd.Stderr = out, out
		cmd.WaitDelay = 10 * time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan error, 1)
		go func() { exited <- cmd.Wait() }()
		stopped := false
		stop := func() {
			if stopped {
				return
			}
			stopped = true
			_ = cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-exited:
			case <-time.After(20 * time.Second):
				_ = cmd.Process.Kill()
				t.Error("the demo did not end within 20 s")
			}
		}
		defer stop()

		deadline := time.After(10 * time.Minute) // the build may be the first
		for !strings.Contains(printed(), "Serving until interrupted") {
			select {
			case err := <-exited:
				stopped = true
				t.Fatalf("the demo ended: %v\n%s", err, printed())
			case <-deadline:
				t.Fatalf("the demo does not serve\n%s", printed())
			case <-time.After(100 * time.Millisecond):
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("credentials.json has mode %v", mode)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var creds map[string]string
		if err := json.Unmarshal(data, &creds); err != nil {
			t.Fatal(err)
		}
		if creds["baseUrl"] != "http://127.0.0.1:"+portOf(port) || len(creds) != 6 {
			t.Errorf("credentials.json has %d fields, base %q", len(creds), creds["baseUrl"])
		}
		for _, name := range []string{"userToken", "clientToken", "serverToken", "accessToken", "refreshToken"} {
			if creds[name] == "" {
				t.Errorf("credentials.json lacks %s", name)
			}
		}
		pasteCurls(t, printed())
		pasteReadmeCurl(t, dir, portOf(port))

		compiled, err := os.Stat(filepath.Join(dir, "delaware.region"))
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			built = compiled.ModTime()
			secondDemo(t, dir, port, admin, path, data)
		} else if !compiled.ModTime().Equal(built) {
			t.Error("the second run compiled the map again")
		}
		stop()
		if conn, err := net.Dial("tcp", port); err == nil {
			conn.Close()
			t.Error("the server outlives the demo")
		}
	}
}

// pasteCurls runs every curl line in a shell, behind the one that sets TOKEN.
func pasteCurls(t *testing.T, output string) {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		return
	}
	token := regexp.MustCompile(`(?m)^TOKEN=.*\\\n.*$`).FindString(output)
	lines := regexp.MustCompile(`(?m)^curl .*$`).FindAllString(output, -1)
	if token == "" || len(lines) < 3 || regexp.MustCompile(`\S{250}`).MatchString(output) {
		t.Fatalf("%d curl lines were printed:\n%s", len(lines), output)
	}
	for _, line := range lines {
		cmd := exec.Command("sh", "-c", token+"\n"+strings.Replace(line, "curl ", "curl --fail ", 1))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		got, err := cmd.Output()
		var body map[string]any
		if err != nil || json.Unmarshal(got, &body) != nil || body["error"] != nil {
			t.Errorf("%s\n%v %s%s", line, err, got, &stderr)
		}
	}
}

// secondDemo checks that another demo in the same directory, on the same ports or on others, says so and leaves the
// running one alone.
func secondDemo(t *testing.T, dir, port, admin, credentials string, data []byte) {
	t.Helper()
	for _, where := range [][2]string{{portOf(port), admin}, {"0", "127.0.0.1:0"}} {
		cmd := exec.Command("make", "demo", "DEMO_DIR="+dir)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "MAPS_PORT="+where[0], "MAPS_ADMIN="+where[1])
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "running already, or being built: it serves at http://"+port) {
			t.Errorf("a second demo: %v\n%s", err, out)
		}
	}
	still, err := os.ReadFile(credentials)
	if err != nil || !bytes.Equal(still, data) {
		t.Errorf("the second demo changed the credentials: %v", err)
	}
	resp, err := http.Get("http://" + port + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
