package integration

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Links between the documents lead somewhere.
func TestDocumentLinks(t *testing.T) {
	docs := documents(t, "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*.md", "*.md")
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	for _, doc := range docs {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			target := filepath.Join(filepath.Dir(doc), m[1])
			if m[1] == "" {
				target = doc
			}
			linked, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", doc, err)
			} else if m[2] != "" && !slices.Contains(anchors(string(linked)), m[2]) {
				t.Errorf("%s: %s has no heading %s", doc, target, m[2])
			}
		}
	}
}

// documents returns the files of the repository that match one of the patterns.
func documents(t *testing.T, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		all = append(all, found...)
	}
	return all
}

// anchors are the fragments of URLs that GitHub gives to the headings of a document.
func anchors(markdown string) (all []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(markdown, -1) {
		all = append(all, "#"+strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1]))
	}
	return all
}

// goTests is a command of a document that runs tests or benchmarks of one package, here or in the module lab.
var goTests = regexp.MustCompile("go (?:-C (lab) )?test [^`\n]*-(run|bench) '?([A-Za-z|$\\\\^]+)'? [^`\n]*\\./([a-z/]+)")

// Every test, benchmark and fuzz target that a document names is there, and every command that runs some of them finds
// one.
func TestNamedTests(t *testing.T) {
	directories := testNames(t) // names of each directory
	everywhere := ""
	for _, names := range directories {
		everywhere += names
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, document := range documents(t, "docs/*.md", "docs/*/*.md", "*.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(document)
		for _, m := range regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)`").FindAllSubmatch(text, -1) {
			if !strings.Contains(everywhere, "\n"+string(m[1])+"\n") {
				t.Errorf("%s: there is no %s", base, m[1])
			}
		}
		for _, m := range goTests.FindAllStringSubmatch(string(text), -1) {
			commands++
			kind := map[string]string{"run": "Test", "bench": "Benchmark"}[m[2]]
			pattern := regexp.MustCompile(strings.ReplaceAll(m[3], `\|`, "|"))
			if !slices.ContainsFunc(strings.Fields(directories[path.Join(m[1], m[4])]), func(name string) bool {
				return strings.HasPrefix(name, kind) && pattern.MatchString(name)
			}) {
				t.Errorf("%s: %s finds nothing", base, m[0])
			}
		}
		for _, m := range regexp.MustCompile("`make ([a-z]+)[ `]").FindAllSubmatch(text, -1) {
			if !strings.Contains(string(makefile), "\n"+string(m[1])+":") {
				t.Errorf("%s: the Makefile has no %s", base, m[1])
			}
		}
	}
	if commands < 15 {
		t.Errorf("only %d commands were found", commands)
	}
}

// What else a document tells people to run is there: the flags of eval and compare, the scripts, and what the Makefile
// builds.
func TestNamedCommands(t *testing.T) {
	source := make(map[string]string) // of the programs that have flags
	for _, program := range []string{"eval", "compare"} {
		text, err := os.ReadFile(filepath.Join(root, "lab", "cmd", program, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		source[program] = string(text)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	flags, scripts := 0, 0
	for _, name := range []string{"docs/internals/benchmarks.md", "docs/build/matching.md", "docs/build/geocoding.md", "docs/internals/decisions.md",
		"CONTRIBUTING.md", ".ci/run"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(EVAL|COMPARE)_FLAGS="([^"]*)"`).FindAllSubmatch(text, -1) {
			program := strings.ToLower(string(m[1]))
			for _, flag := range regexp.MustCompile(`(?:^| )-([a-z]+)`).FindAllSubmatch(m[2], -1) {
				flags++
				if !strings.Contains(source[program], `, "`+string(flag[1])+`", `) {
					t.Errorf("%s: %s has no flag -%s", name, program, flag[1])
				}
			}
		}
		for _, script := range regexp.MustCompile(`scripts/[a-z]+\.sh`).FindAll(text, -1) {
			scripts++
			if _, err := os.Stat(filepath.Join(root, string(script))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, m := range regexp.MustCompile(`make build/bin/([a-z]+)`).FindAllSubmatch(text, -1) {
			if !strings.Contains(string(makefile), "\n$(BIN)/"+string(m[1])+":") {
				t.Errorf("%s: the Makefile builds no %s", name, m[1])
			}
		}
	}
	if flags < 20 || scripts < 3 {
		t.Errorf("only %d flags of eval and compare and %d scripts were found", flags, scripts)
	}
}

// testNames are the tests, benchmarks and fuzz targets of each directory, each on a line of its own.
func testNames(t *testing.T) map[string]string {
	t.Helper()
	names := make(map[string]string)
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	for _, dir := range []string{"gate_test.go", "integration", "internal", "lab", "modules", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			where, err := filepath.Rel(root, filepath.Dir(path))
			for _, m := range function.FindAllSubmatch(source, -1) {
				names[filepath.ToSlash(where)] += "\n" + string(m[1]) + "\n"
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}
