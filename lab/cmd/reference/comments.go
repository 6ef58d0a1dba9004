package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// goModule is the path of the Go module whose Caddy modules are described.
const goModule = "github.com/mapsedge/caddy-maps"

// comments finds the doc comments of types of this repository. Packages are read when they are asked for.
type comments struct {
	root     string // the repository
	packages map[string]*doc.Package
}

func newComments(root string) *comments {
	return &comments{root: root, packages: make(map[string]*doc.Package)}
}

// typeNamed returns the documentation of a type, by the path of its package.
func (c *comments) typeNamed(path, name string) (*doc.Type, error) {
	pkg, err := c.load(path)
	if err != nil {
		return nil, err
	}
	for _, t := range pkg.Types {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("the package %s has no type %s", path, name)
}

func (c *comments) load(path string) (*doc.Package, error) {
	if pkg := c.packages[path]; pkg != nil {
		return pkg, nil
	}
	below, ours := strings.CutPrefix(path, goModule+"/")
	if !ours {
		return nil, fmt.Errorf("the package %s is not of this repository", path)
	}
	dir := filepath.Join(c.root, filepath.FromSlash(below))
	names, err := goFiles(dir)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	// AllDecls: a type that is embedded need not be exported. PreserveAST: files of one package are read once.
	pkg, err := doc.NewFromFiles(set, files, path, doc.AllDecls|doc.PreserveAST)
	if err != nil {
		return nil, err
	}
	c.packages[path] = pkg
	return pkg, nil
}

// goFiles lists the files of a package without its tests.
func goFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	return names, err
}

// fieldComment returns the comment of a field of a struct; "" where it has none.
func fieldComment(t *doc.Type, field string) string {
	for _, spec := range t.Decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok || spec.Name.Name != t.Name {
			continue
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return ""
		}
		for _, f := range structure.Fields.List {
			for _, name := range f.Names {
				if name.Name == field {
					return f.Doc.Text()
				}
			}
		}
	}
	return ""
}

// methodComment returns the comment of a method; "" where it has none.
func methodComment(t *doc.Type, method string) string {
	for _, m := range t.Methods {
		if m.Name == method {
			return m.Doc
		}
	}
	return ""
}

// block is a part of a comment: text, or an indented block of code without its indentation.
type block struct {
	text string
	code bool
}

// blocks splits a comment where blank lines separate paragraphs and where code begins and ends. Text stays as it is,
// for it is Markdown.
func blocks(comment string) (all []block) {
	paragraph := true // a new block begins with the next line of text
	for line := range strings.Lines(comment) {
		line = strings.TrimRight(line, " \t\n")
		code := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")
		last := len(all) - 1
		switch {
		case line == "":
			paragraph = true
			if last >= 0 && all[last].code {
				all[last].text += "\n"
			}
			continue
		case code && last >= 0 && all[last].code:
			all[last].text += dedent(line) + "\n"
		case code:
			all = append(all, block{dedent(line) + "\n", true})
		case paragraph || all[last].code:
			all = append(all, block{line, false})
		default:
			all[last].text += "\n" + line
		}
		paragraph = false
	}
	for i := range all {
		all[i].text = strings.TrimRight(all[i].text, "\n")
	}
	return all
}

func dedent(line string) string {
	if rest, ok := strings.CutPrefix(line, "\t"); ok {
		return rest
	}
	return strings.TrimPrefix(line, "    ")
}
