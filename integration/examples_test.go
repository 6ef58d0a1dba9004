package integration

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// example is one Caddyfile that the documentation shows.
type example struct {
	where string // file, and line for a part of a document
	text  string
}

// The server accepts every Caddyfile of the repository and of its documents: complete ones, and directives, which are
// tried in a site. `caddy fmt` changes none of them.
func TestExamples(t *testing.T) {
	leaveOut(t, "checks documents")
	t.Parallel()
	examples := documentedExamples(t)
	if len(examples) < 15 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	secrets := t.TempDir()
	for _, name := range []string{"db", "kek"} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte(strings.Repeat("4b", 32)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range examples {
		t.Run(e.where, func(t *testing.T) {
			t.Parallel()
			if formatted := string(caddyfile.Format([]byte(e.text))); formatted != e.text {
				t.Errorf("caddy fmt would write\n%s", formatted)
			}
			text := strings.ReplaceAll(e.text, "/run/secrets", filepath.ToSlash(secrets))
			config, asSite := adapt(t, exampleRegions+":80 {\n"+text+"\n}\n")
			if config == nil && !strings.Contains(text, "{") { // by itself it would be the address of an empty site
				t.Fatalf("in a site: %s", asSite)
			}
			if config == nil {
				var asWhole string
				if config, asWhole = adapt(t, text); config == nil {
					t.Fatalf("as it is: %s\nin a site: %s", asWhole, asSite)
				}
			}
		})
	}
}

// exampleRegions are the regions that directives may refer to.
const exampleRegions = `{
	maps {
		region delaware ./delaware.region
		region andorra ./andorra.region
	}
}
`

// adapt tries a Caddyfile with `caddy adapt --validate`. It returns the JSON, or nil and what was printed to explain a
// refusal.
func adapt(t *testing.T, text string) (config []byte, refusal string) {
	t.Helper()
	s := newServer(t)
	s.env = []string{"MAPS_DATABASE_URL=postgres://maps@127.0.0.1/maps", "MAPS_FILES_TOKEN=token"}
	if strings.Contains(text, "store {$MAPS_STORE:") { // the package's, where it says which store as well
		s.env = append(s.env, "MAPS_STORE=sqlite "+s.store)
	}
	for name, content := range map[string]string{s.config: text, filepath.Join(s.dir, "kek"): strings.Repeat("4b", 32)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := s.command(t.Context(), "adapt", "--validate", "--config", s.config, "--adapter", "caddyfile")
	if err := os.Mkdir(filepath.Join(cmd.Dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"delaware", "andorra", "data/delaware", "data/shard"} {
		if err := os.Symlink(s.region, filepath.Join(cmd.Dir, name+".region")); err != nil {
			t.Fatal(err)
		}
	}
	var printed bytes.Buffer
	cmd.Stderr = &printed
	config, err := cmd.Output()
	if err != nil {
		return nil, printed.String()
	}
	return config, ""
}

// documentedExamples collects the Caddyfiles of the repository and those within its documents.
func documentedExamples(t *testing.T) (examples []example) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		where, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(name, ".") && path != root || where == "build" || where == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		whole := strings.HasPrefix(name, "Caddyfile") || strings.EqualFold(filepath.Ext(name), ".Caddyfile")
		if !whole && filepath.Ext(name) != ".md" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		where = filepath.ToSlash(where)
		if whole {
			examples = append(examples, example{where, string(data)})
			return nil
		}
		blocks, err := testkit.FencedBlocks(string(data))
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		for _, b := range blocks {
			if b.Kind == "caddyfile" {
				examples = append(examples, example{where + ":" + strconv.Itoa(b.Line), b.Text})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return examples
}
