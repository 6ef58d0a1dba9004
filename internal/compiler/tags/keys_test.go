package tags

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// TestKeys: each variable is named as its key.
func TestKeys(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	letters := strings.NewReplacer(":", "", "_", "", "-", "")
	for _, spec := range file.Decls[0].(*ast.GenDecl).Specs {
		key := spec.(*ast.ValueSpec)
		text, err := strconv.Unquote(key.Values[0].(*ast.CallExpr).Args[0].(*ast.BasicLit).Value)
		if name := key.Names[0].Name; err != nil || !strings.EqualFold(name, letters.Replace(text)) {
			t.Errorf("%s is the number of %q", name, text)
		}
		if KeyOf(text) == Other || KeyOf(text).String() != text {
			t.Errorf("%q has number %d", text, KeyOf(text))
		}
	}
}
