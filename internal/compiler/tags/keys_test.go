package tags

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestKeys: each key has the number that is called as it is.
func TestKeys(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	letters := strings.NewReplacer(":", "", "_", "", "-", "")
	key := Key(0)
	for _, spec := range file.Decls[1].(*ast.GenDecl).Specs {
		key++
		name := spec.(*ast.ValueSpec).Names[0].Name
		if want := letters.Replace(key.String()); !strings.EqualFold(name, want) {
			t.Errorf("%s is the number of %q", name, key)
		}
		if KeyOf(key.String()) != key {
			t.Errorf("%q has number %d", key, KeyOf(key.String()))
		}
	}
	if int(key) != len(names)-1 {
		t.Errorf("%d keys of %d", len(names)-1, key)
	}
}
