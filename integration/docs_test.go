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
	leaveOut(t, "reads documents only")
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	for _, document := range documents(t) {
		text := readFile(t, document)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := path.Join(path.Dir(document), m[1])
			if m[1] == "" {
				target = document
			}
			info, err := os.Stat(filepath.Join(root, filepath.FromSlash(target)))
			if err != nil {
				t.Errorf("%s: %v", document, err)
			} else if m[2] != "" && !info.IsDir() && !slices.Contains(anchors(readFile(t, target)), m[2]) {
				t.Errorf("%s: %s has no heading %s", document, target, m[2])
			}
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors are the fragments of URLs that GitHub gives to the headings of a document, and those it has itself.
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
	for _, anchor := range regexp.MustCompile(`<a (?:id|name)="([^"]+)">`).FindAllStringSubmatch(markdown, -1) {
		all = append(all, "#"+anchor[1])
	}
	return all
}

// goTests is a command of a document that runs tests or benchmarks of one package, here or in the module lab; bench is a
// function of docs/internals/benchmarks.md.
var goTests = regexp.MustCompile("(?:go (?:-C (lab) )?test [^`\n]*-(run|bench)|(?:\\(cd (lab); )?\\b(bench)) " +
	"'?([A-Za-z|()$\\\\^]+)'? [^`\n]*\\./([a-z/]+)")

// What documents name is there: tests, benchmarks and fuzz targets, targets of make, flags of eval and compare, scripts.
// Commands that run tests find one.
func TestNamed(t *testing.T) {
	leaveOut(t, "reads documents only")
	t.Parallel()
	directories := testNames(t)
	everywhere := ""
	for _, names := range directories {
		everywhere += names
	}
	makefile := readFile(t, "Makefile")
	source := map[string]string{"EVAL": readFile(t, "lab/cmd/eval/main.go"), "COMPARE": readFile(t, "lab/cmd/compare/main.go")}
	for _, document := range append(documents(t), ".ci/run") {
		text := readFile(t, document)
		missing := func(ok bool, what string) {
			if !ok {
				t.Errorf("%s: there is no %s", document, what)
			}
		}
		for _, m := range regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)`").FindAllStringSubmatch(text, -1) {
			missing(strings.Contains(everywhere, "\n"+m[1]+"\n"), m[1])
		}
		for _, m := range goTests.FindAllStringSubmatch(text, -1) {
			kind := map[string]string{"run": "Test", "bench": "Benchmark"}[m[2]+m[4]]
			pattern := regexp.MustCompile(strings.ReplaceAll(m[5], `\|`, "|"))
			missing(slices.ContainsFunc(strings.Fields(directories[path.Join(m[1]+m[3], m[6])]), func(name string) bool {
				return strings.HasPrefix(name, kind) && pattern.MatchString(name)
			}), "test for "+m[0])
		}
		for _, m := range regexp.MustCompile("`make ([a-z-]+)[ `]|make (?:\\$\\(BIN\\)|build/bin)/([a-z]+)").FindAllStringSubmatch(text, -1) {
			missing(strings.Contains(makefile, "\n"+m[1]+":") || strings.Contains(makefile, "\n$(BIN)/"+m[2]+":"), m[0])
		}
		for _, m := range regexp.MustCompile(`(EVAL|COMPARE)_FLAGS="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			for _, flag := range regexp.MustCompile(`(?:^| )-([a-z]+)`).FindAllStringSubmatch(m[2], -1) {
				missing(strings.Contains(source[m[1]], `, "`+flag[1]+`", `), "flag -"+flag[1])
			}
		}
		for _, script := range regexp.MustCompile(`scripts/[a-z]+\.sh`).FindAllString(text, -1) {
			_, err := os.Stat(filepath.Join(root, script))
			missing(err == nil, script)
		}
	}
}

// testNames are the tests, benchmarks and fuzz targets of each directory, each on its own line.
func testNames(t *testing.T) map[string]string {
	t.Helper()
	names := make(map[string]string)
	function := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
	for _, dir := range []string{"integration", "internal", "lab", "modules"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			where, err := filepath.Rel(root, path)
			for _, m := range function.FindAllStringSubmatch(readFile(t, filepath.ToSlash(where)), -1) {
				names[filepath.ToSlash(filepath.Dir(where))] += "\n" + m[1] + "\n"
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}
