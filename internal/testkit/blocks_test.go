package testkit

import (
	"reflect"
	"testing"
)

func TestBlocks(t *testing.T) {
	blocks, err := FencedBlocks("# One\n\n```sh first  second\n# no heading\nls\n```\n\n## Two\n" +
		"- x\n  ```\n  y\n  ```\n#none\na ```` ```sh ```` b\n```text\n```\n")
	want := []FencedBlock{
		{Line: 4, Heading: "One", Kind: "sh", Info: "first  second", Text: "# no heading\nls\n"},
		{Line: 11, Heading: "Two", Indented: true, Text: "  y\n"},
		{Line: 16, Heading: "Two", Kind: "text"},
	}
	if err != nil || !reflect.DeepEqual(blocks, want) {
		t.Errorf("%v\n%+v", err, blocks)
	}
	if _, err := FencedBlocks("x\n```sh\nls\n"); err == nil || err.Error() != "line 2: the block does not end" {
		t.Error(err)
	}
}
