package jsontext

import (
	"strings"
	"testing"
)

func BenchmarkAppendFixed(b *testing.B) {
	dst := make([]byte, 0, 32)
	for b.Loop() {
		dst = AppendFixed(dst[:0], -75.5197413, 7)
	}
}

func BenchmarkSkip(b *testing.B) {
	text := []byte(`[` + strings.Repeat(`{"hint":"kZwBgP___38AAAAAIQAAAAAAAAANAAAAAAAAAPvYkEEAAAAAoyYbQQAAAAAhAAAA","distance":4.0123,"name":"Rua do Campo Alegre"},`, 100) + `1]`)
	b.SetBytes(int64(len(text)))
	r := NewReader(nil)
	for b.Loop() {
		r.Reset(text)
		r.Skip()
		if r.Err() != nil {
			b.Fatal(r.Err())
		}
	}
}
