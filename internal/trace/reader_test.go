package trace

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzSkip: Skip accepts what encoding/json accepts, up to maxDepth.
func FuzzSkip(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e3,true,false,null,"x\u0041\\"]}`, `[]`, `{}`, `[1,]`, `{"a"}`,
		`nul`, `"\x"`, `01`, "\"\x00\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newReader(text)
		r.Skip()
		r.End()
		valid := json.Valid(text)
		switch {
		case r.Err() == nil && !valid:
			t.Fatalf("%q was taken", text)
		case r.Err() != nil && valid && len(text) < maxDepth && strings.ToValidUTF8(string(text), "") == string(text):
			t.Fatalf("%q was refused: %v", text, r.Err())
		}
	})
}
