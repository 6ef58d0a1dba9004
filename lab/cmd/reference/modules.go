package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/service"
)

// module is what the reference says of a Caddy module.
type module struct {
	id      string
	about   []block // what it does
	kind    string  // of its JSON, where that is not an object
	fields  []field
	syntax  string  // in a Caddyfile; "" where it is not in Caddyfiles
	notes   []block // on the syntax
	example string
}

// name is how configurations call the module: the last part of its id.
func (m *module) name() string { return m.id[strings.LastIndexByte(m.id, '.')+1:] }

// namespace is the id without the name.
func (m *module) namespace() string {
	return strings.TrimSuffix(m.id[:len(m.id)-len(m.name())], ".")
}

// directives is the namespace of directives that are no modules.
const directives = "directives"

// registered describes every module of this repository that Caddy knows. All that is missing is one error.
func registered(c *comments) (modules []module, err error) {
	var problems []error
	seen := make(map[string]bool) // packages
	for _, id := range caddy.Modules() {
		info, err := caddy.GetModule(id)
		if err != nil {
			return nil, err
		}
		typ := structOf(info.New())
		if !strings.HasPrefix(typ.PkgPath(), goModule+"/") {
			continue
		}
		seen[typ.PkgPath()] = true
		m, err := describe(c, id, typ)
		if err != nil {
			problems = append(problems, err)
		}
		modules = append(modules, m)
	}
	one, err := describe(c, directives+".maps_service", reflect.TypeFor[service.Service]())
	if err == nil {
		err = one.addExpansion(c.root)
	}
	problems = append(problems, err, forgotten(c.root, seen))
	modules = append(modules, one)
	slices.SortFunc(modules, func(a, b module) int {
		return cmp.Or(cmp.Compare(groupOf(a.namespace()), groupOf(b.namespace())), cmp.Compare(a.id, b.id))
	})
	return modules, errors.Join(problems...)
}

// addExpansion adds what maps_service expands to: the second site of Caddyfile.example, which a test compares, without
// its comments.
func (m *module) addExpansion(root string) error {
	example, err := os.ReadFile(filepath.Join(root, "Caddyfile.example"))
	if err != nil {
		return err
	}
	_, site, found := strings.Cut(string(example), "\n# The same written out")
	_, site, hasParts := strings.Cut(site, "\n\n") // behind the address and the log
	_, snippets, hasSnippets := strings.Cut(string(example), "\n(api) {")
	snippets, _, ends := strings.Cut(snippets, "\n\n{\n")
	if !found || !hasParts || !hasSnippets || !ends {
		return errors.New("Caddyfile.example has no site under `# The same written out`, or no snippet `(api)`")
	}
	site = expansionComment.ReplaceAllString(strings.TrimSuffix(strings.TrimSpace(site), "\n}"), "")
	m.notes = append(m.notes, block{text: "Without options it is the same as this, with the name of the region:"},
		block{text: strings.ReplaceAll(strings.TrimSpace(site), "\n\t", "\n"), code: true},
		block{text: "It imports these snippets:"}, block{text: "(api) {" + snippets, code: true})
	return nil
}

var expansionComment = regexp.MustCompile(`(?m)^\s*#.*\n|^\n| # .*$`)

func structOf(m caddy.Module) reflect.Type {
	typ := reflect.TypeOf(m)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ
}

// forgotten reports the packages that register a module but are not built in.
func forgotten(root string, builtIn map[string]bool) error {
	var problems []error
	err := filepath.WalkDir(filepath.Join(root, "modules"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		path := goModule + "/" + filepath.ToSlash(dir)
		if builtIn[path] {
			return nil
		}
		source, err := os.ReadFile(file)
		if strings.Contains(string(source), "caddy.RegisterModule(") {
			problems = append(problems, fmt.Errorf("%s registers a module, but caddymaps.go does not import it", path))
		}
		return err
	})
	return errors.Join(append(problems, err)...)
}

// describe reads the documentation of one module, whose type is given.
func describe(c *comments, id string, typ reflect.Type) (m module, err error) {
	m.id = id
	t, err := c.typeNamed(typ.PkgPath(), typ.Name())
	if err != nil {
		return m, fmt.Errorf("%s: %w", id, err)
	}
	problems := []error{}
	missing := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s", id, fmt.Sprintf(format, args...)))
	}

	about := t.Doc
	if rest, ok := strings.CutPrefix(about, typ.Name()+" "); ok {
		about = "`" + m.name() + "` " + rest
	} else {
		missing("the comment of the type %s does not begin with its name", typ)
	}
	m.about = blocks(about)
	if typ.Kind() != reflect.Struct {
		m.kind = kindOf(typ, "")
	}
	m.fields, err = fieldsOf(c, typ, "")
	if err != nil {
		missing("%v", err)
	}

	if !reflect.PointerTo(typ).Implements(reflect.TypeFor[caddyfile.Unmarshaler]()) {
		if m.about, m.example = cutExample(m.about); m.example == "" {
			missing("the comment of the type %s has no code block after %q", typ, exampleLine)
		}
		return m, errors.Join(problems...)
	}
	rest := blocks(methodComment(t, "UnmarshalCaddyfile"))
	rest, m.example = cutExample(rest)
	if m.example == "" {
		missing("the comment of UnmarshalCaddyfile has no code block after %q", exampleLine)
	}
	m.example = string(caddyfile.Format([]byte(m.example)))
	at := slices.IndexFunc(rest, func(b block) bool { return b.code })
	if at != 1 {
		missing("the comment of UnmarshalCaddyfile is not one paragraph and then the syntax as a code block")
		return m, errors.Join(problems...)
	}
	m.syntax, m.notes = rest[1].text, rest[2:]
	return m, errors.Join(problems...)
}

// exampleLine is the end of the text before an example.
const exampleLine = "Example:"

// cutExample takes the example, and a paragraph that only announces it, out of a comment.
func cutExample(all []block) (rest []block, example string) {
	for i := 1; i < len(all); i++ {
		before := all[i-1]
		if !all[i].code || before.code || !strings.HasSuffix(before.text, exampleLine) {
			continue
		}
		rest = slices.Concat(all[:i-1], all[i+1:])
		if text := strings.TrimSpace(strings.TrimSuffix(before.text, exampleLine)); text != "" {
			rest = slices.Insert(rest, i-1, block{text, false})
		}
		return rest, all[i].text
	}
	return all, ""
}
