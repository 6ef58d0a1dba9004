package integration

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/mapsedge/caddy-maps"
)

// The configuration reference names every JSON field of every module, and no module is forgotten.
func TestConfigurationReference(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	n := 0
	for _, id := range caddy.Modules() {
		name := id[strings.LastIndexByte(id, '.')+1:]
		ours := id == "maps" || strings.HasPrefix(id, "maps.") || strings.HasPrefix(name, "maps_")
		if !ours {
			continue
		}
		n++
		if !strings.Contains(text, name) {
			t.Errorf("the module %s is not described", id)
		}
		info, err := caddy.GetModule(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range jsonFields(reflect.TypeOf(info.New()), nil) {
			if !strings.Contains(text, "`"+field+"`") && !strings.Contains(text, `"`+field+`"`) {
				t.Errorf("the field %s of %s is not described", field, id)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d modules are registered", n)
	}
}

// jsonFields lists the names of a configuration's fields, those of structs within it included.
func jsonFields(typ reflect.Type, names []string) []string {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return jsonFields(typ.Elem(), names)
	case reflect.Struct:
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" {
				names = jsonFields(typ.Field(i).Type, append(names, name))
			}
		}
	}
	return names
}

// Links between the documents lead somewhere.
func TestDocumentLinks(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} {
		docs = append(docs, filepath.Join(root, name))
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, doc := range docs {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s: %v", filepath.Base(doc), err)
			}
		}
	}
}

// Every test that docs/security.md names is there.
func TestSecurityPromises(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := make(map[string]bool)
	for _, dir := range []string{"integration", "internal", "modules"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(source, -1) {
				tests[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(text, -1)
	if len(named) < 20 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if !tests[string(m[1])] {
			t.Errorf("there is no %s", m[1])
		}
	}
}

// Every test that docs/security.md names for a promise is there.
func TestPromisesHaveTests(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(data), -1)
	if len(named) < 40 {
		t.Errorf("only %d tests are named", len(named))
	}
	var tests strings.Builder
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range named {
		if !strings.Contains(tests.String(), "func "+name[1]+"(") {
			t.Errorf("there is no %s", name[1])
		}
	}
}
