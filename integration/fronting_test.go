package integration

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// snippet is a Caddyfile in a document.
type snippet struct {
	name string // the heading above it, and its number where that has several
	text string
}

// readSnippets returns the Caddyfiles of a document.
func readSnippets(t *testing.T, document string) []snippet {
	t.Helper()
	var found []snippet
	heading, n := "", 0
	for _, b := range readBlocks(t, "docs/"+document, "caddyfile") {
		if b.Heading != heading {
			heading, n = b.Heading, 0
		}
		name := heading
		if n++; n > 1 {
			name = fmt.Sprint(heading, " ", n)
		}
		found = append(found, snippet{name, b.Text})
	}
	return found
}

// recorder is an upstream that keeps what it is asked.
type recorder struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []recordedRequest
	answer http.HandlerFunc
}

type recordedRequest struct {
	method, uri, body string
	header            http.Header
}

func newRecorder(t *testing.T) *recorder {
	rec := new(recorder)
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a request that breaks off is one with less of a body
		rec.mu.Lock()
		answer := rec.answer
		if r.URL.Path != "/status" && !strings.HasPrefix(r.URL.Path, "/nearest/") { // health checks
			rec.asked = append(rec.asked, recordedRequest{r.Method, r.RequestURI, string(body), r.Header})
		}
		rec.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(rec.Close)
	return rec
}

// take returns the requests since the last time.
func (rec *recorder) take() []recordedRequest {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	asked := rec.asked
	rec.asked = nil
	return asked
}

// says sets the answer from now on.
func (rec *recorder) says(answer http.HandlerFunc) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.answer = answer
}

// fronted is a snippet that a server runs, in front of a recorder.
type fronted struct {
	*server
	t        *testing.T
	upstream *recorder
	site     string // URL
	user     string // token
	account  string // the last that has passed the gate
}

// upstreams are the names of services in these Caddyfiles.
var upstreams = regexp.MustCompile(`(https?://)?\b(?:osrm|valhalla|nominatim|photon|vroom|tiles)(?:-\d)?:\d+`)

// startFronted runs a snippet with a recorder for all of its upstreams, and pairs of texts replaced. Accounts are
// managed at a URL of their own.
func startFronted(t *testing.T, text string, replacements ...string) *fronted {
	t.Helper()
	s := newServer(t)
	f := &fronted{server: s, t: t, upstream: newRecorder(t)}
	address, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	f.site = "http://" + address
	text = "\n" + text
	replace := func(old, new string) {
		if !strings.Contains(text, old) {
			t.Fatalf("the Caddyfile has no %q", old)
		}
		text = strings.ReplaceAll(text, old, new)
	}
	for i := 0; i < len(replacements); i += 2 {
		replace(replacements[i], replacements[i+1])
	}
	replace("\n:8080 {", "\n"+f.site+" {\n\tbind 127.0.0.1")
	if !upstreams.MatchString(text) {
		t.Fatal("the Caddyfile has no upstream")
	}
	text = upstreams.ReplaceAllStringFunc(text, func(name string) string {
		if strings.Contains(name, "://") {
			return f.upstream.URL
		}
		return strings.TrimPrefix(f.upstream.URL, "http://")
	})
	options := "\tadmin " + s.admin + "\n"
	store := "\n\t\tstore sqlite " + s.store
	if strings.Contains(text, "maps {") {
		replace("maps {", "maps {"+store)
	} else {
		options += "\tmaps {" + store + "\n\t}\n"
	}
	if begins := regexp.MustCompile(`(?m)^\{$`).FindStringIndex(text); begins != nil {
		text = text[:begins[1]] + "\n" + options + text[begins[1]:]
	} else {
		text = "{\n" + options + "}\n" + text
	}
	text += fmt.Sprintf(`
http://127.0.0.1:%s {
	bind 127.0.0.1
	handle %s/* {
		maps_tokens
	}
	handle %s* {
		maps_accounts
	}
	handle /healthz {
		maps_health
	}
}
`, s.port, external, accounts)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end(t)
		if err := s.searchSecrets(); err != nil {
			t.Error(err)
		}
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	f.user = s.userToken(t, "fronting")
	return f
}

// token makes an account with scopes, and returns its id and an access token.
func (f *fronted) token(scopes ...string) (id, token string) {
	f.t.Helper()
	acc := f.create(f.t, f.user, map[string]any{"scopes": scopes})
	token, _ = f.exchange(f.t, acc.ClientToken, acc.ServerToken)
	return acc.ID, token
}

// ask sends a request to the snippet's site.
func (f *fronted) ask(c call) *answer {
	f.t.Helper()
	a, err := sendTo(f.t, httpClient, f.site, c)
	if err != nil {
		f.t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return a
}

// passed returns the one request that the upstream has had since it was last looked at. It must have no credential in
// it.
func (f *fronted) passed(token string) recordedRequest {
	f.t.Helper()
	asked := f.upstream.take()
	if len(asked) != 1 {
		f.t.Fatalf("the upstream was asked %d times: %+v", len(asked), asked)
	}
	if text := fmt.Sprint(asked[0]); strings.Contains(text, token) || asked[0].header.Get("Authorization") != "" {
		f.t.Errorf("the upstream sees the token: %s", text)
	}
	return asked[0]
}

// notPassed checks that the upstream has not been asked.
func (f *fronted) notPassed() {
	f.t.Helper()
	if asked := f.upstream.take(); len(asked) > 0 {
		f.t.Errorf("the upstream was asked: %+v", asked)
	}
}

// gate checks that only a token with the one scope opens the way of a request, and returns the answer and what has
// reached the upstream. The client pretends to be another account.
func (f *fronted) gate(scope string, c call) (*answer, recordedRequest) {
	f.t.Helper()
	others := []string{"TILE", "MATRIX", "ONM", "DIRECTION", "TSS", "GEOCODING", "REVERSEGEOCODING"}
	for i, other := range others {
		if other == scope {
			others = append(others[:i], others[i+1:]...)
			break
		}
	}
	f.ask(c).want(401).wantHeader("WWW-Authenticate", "Bearer").wantHeader("Content-Type", jsonType).
		wantHeader("Cache-Control", "no-store")
	_, c.bearer = f.token(others...)
	f.ask(c).want(403).wantHeader("Content-Type", jsonType).wantHeader("Cache-Control", "no-store")
	f.notPassed()
	id, token := f.token(scope)
	c.bearer = token
	c.header = map[string][]string{"X-Account": {"forged"}}
	a := f.ask(c).want(200)
	got := f.passed(token)
	f.account = id
	return a, got
}

// wantAccount checks that the upstream is told who has passed the gate.
func (f *fronted) wantAccount(r recordedRequest) {
	f.t.Helper()
	if account := r.header["X-Account"]; len(account) != 1 || account[0] != f.account {
		f.t.Errorf("X-Account is %q, not %s", account, f.account)
	}
}

// Every Caddyfile in examples/engines does what it says in front of a recording upstream.
func TestFronting(t *testing.T) {
	leaveOut(t, "it starts a server for each Caddyfile of the documents")
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "examples", "engines", "*.Caddyfile"))
	if err != nil || len(files) != len(snippetChecks) {
		t.Fatalf("%d Caddyfiles for %d checks, %v", len(files), len(snippetChecks), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".Caddyfile")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if check := snippetChecks[name]; check != nil {
				check(t, string(text))
			} else {
				t.Error("no check serves it")
			}
		})
	}
}
