package testkit

import "embed"

//go:embed testdata
var files embed.FS

// Data returns a file of testdata by its slash-separated path. testdata/README.md says what each file is. A missing
// file panics, since variables of test packages are initialized with it.
func Data(name string) []byte {
	text, err := files.ReadFile("testdata/" + name)
	if err != nil {
		panic(err)
	}
	return text
}
