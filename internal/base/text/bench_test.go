package text

import "testing"

func BenchmarkAppendFixed(b *testing.B) {
	dst := make([]byte, 0, 32)
	for b.Loop() {
		dst = AppendFixed(dst[:0], -75.5197413, 7)
	}
}
