package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/lab/cmd/reference/testmodules"
)

// The committed reference is what the comments say, and nothing is undocumented.
func TestReferenceIsCurrent(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if err := run(filepath.Join(root, "docs", "reference.md"), true); err != nil {
		t.Error(err)
	}
}

// A file that differs by one letter is noticed, and left as it is.
func TestCheckFindsDifference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reference.md")
	if err := run(path, true); err == nil {
		t.Error("a file that is missing passes")
	}
	if err := run(path, false); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); err != nil {
		t.Errorf("what was just written: %v", err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(written), "maps", "mops", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); err == nil {
		t.Error("a changed file passes")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != changed {
		t.Errorf("the file was written: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	c := testComments(t)
	m, err := describe(c, "some.where.sample", reflect.TypeFor[testmodules.Sample]())
	if err != nil {
		t.Fatal(err)
	}
	want := module{
		id: "some.where.sample",
		about: []block{
			{"`sample` does nothing. It has every kind of field.", false},
			{"It has a second paragraph.", false},
		},
		fields: []field{
			{"wait", "duration", "10s", "How long."},
			{"text", "string", "`a.b` (see c)", "A text, with a default.that has a period in it. And more."},
			{"parts", "map of objects by name", "", "Objects."},
			{"parts.<name>.counts", "list of lists of integers", "0", "How many."},
			{"raw", "module of `some.where`, named by `kind`", "none", "Modules | of an app."},
			{"header", "map of lists of strings by name", "none", "Lists."},
		},
		syntax:  "sample <text> {\n    wait <duration>\n\n    part <name>\n}",
		notes:   []block{{"Parts may be many.", false}},
		example: "sample a {\n\twait 5s\n}",
	}
	m.example = strings.TrimRight(m.example, "\n")
	if diff := cmp.Diff(want, m, cmp.AllowUnexported(module{}, block{}, field{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	const rendered = "\n### some.where.sample\n\n`sample` does nothing. It has every kind of field.\n\n" +
		"It has a second paragraph.\n\n" +
		"```\nsample <text> {\n\twait <duration>\n\n\tpart <name>\n}\n```\n\nParts may be many.\n\n" +
		"Example:\n\n```caddyfile\nsample a {\n\twait 5s\n}\n```\n\nJSON fields:\n\n" +
		"- `wait` (duration, default: 10s): How long.\n"
	got := string(render([]module{m}, testCommands(t)))
	if at := strings.Index(got, "\n### "); at < 0 || !strings.HasPrefix(got[at:], rendered) {
		t.Errorf("%s\nwant in it\n%s", got, rendered)
	}
	for _, part := range []string{
		"- `some.where`:\n  [`some.where.sample`](#somewheresample)\n", "\n## `some.where`\n",
		"- `parts` (map of objects by name, required): Objects.\n", "): Modules | of an app.\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%s\nlacks %s", got, part)
		}
	}
}

// A field of several modules is described once.
func TestCommonFields(t *testing.T) {
	wait := field{"wait", "duration", "10s", "How long."}
	var modules []module
	for _, id := range []string{"a", "b", "c"} {
		modules = append(modules, module{id: id, about: []block{{"See docs/run/limits.md#quotas.", false}},
			fields: []field{wait, {"own", "string", "", id}}})
	}
	text := string(render(modules, testCommands(t)))
	for part, times := range map[string]int{
		"- `wait`: [common fields](#common-fields)\n": 3, "- `own` (string, required): ": 3,
		"See [docs/run/limits.md](run/limits.md#quotas).":                                                     3,
		"\n## Common fields\n\nSeveral modules have these.\n\n- `wait` (duration, default: 10s): How long.\n": 1,
	} {
		if strings.Count(text, part) != times {
			t.Errorf("%s\ndoes not have %d times %s", text, times, part)
		}
	}
}

func TestDescribeOtherThanObject(t *testing.T) {
	m, err := describe(testComments(t), "some.where.list", reflect.TypeFor[testmodules.List]())
	if err != nil {
		t.Fatal(err)
	}
	want := module{
		id: "some.where.list", kind: "list of strings", example: "curl localhost",
		about: []block{{"`list` is a module whose JSON is no object, and that is not in Caddyfiles.", false}},
	}
	if diff := cmp.Diff(want, m, cmp.AllowUnexported(module{}, block{}, field{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const jsonKind = "```sh\ncurl localhost\n```\n\nJSON: list of strings.\n"
	if got := string(render([]module{m}, testCommands(t))); !strings.Contains(got, jsonKind) {
		t.Error(got)
	}
}

// All that is missing is named at once.
func TestMissingDocumentation(t *testing.T) {
	_, err := describe(testComments(t), "some.where.bare", reflect.TypeFor[testmodules.Bare]())
	if err == nil {
		t.Fatal("nothing is missing")
	}
	for _, problem := range []string{
		"the comment of the type testmodules.Bare does not begin with its name",
		"the field Naked of testmodules.Bare has no comment",
		"the field Open of testmodules.Bare says neither",
		"the field Only of testmodules.Bare has nothing but a default",
		"the field Nameless of testmodules.Bare has no name in JSON",
		"the field Deep of testmodules.BareInner has no comment",
		`UnmarshalCaddyfile has no code block after "Example:"`,
		"is not one paragraph and then the syntax",
	} {
		if !strings.Contains(err.Error(), problem) {
			t.Errorf("%v\nlacks %s", err, problem)
		}
	}
}

// A package that registers a module but is not built in is an error.
func TestForgottenModule(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "modules", "lost")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	source := "package lost\n\nfunc init() { caddy.RegisterModule(Lost{}) }\n"
	if err := os.WriteFile(filepath.Join(dir, "lost.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := forgotten(root, nil); err == nil || !strings.Contains(err.Error(), goModule+"/modules/lost") {
		t.Errorf("the error is %v", err)
	}
	if err := forgotten(root, map[string]bool{goModule + "/modules/lost": true}); err != nil {
		t.Error(err)
	}
}

func testComments(t *testing.T) *comments {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	return newComments(root)
}
