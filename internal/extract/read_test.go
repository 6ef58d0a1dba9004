package extract

import "testing"

func BenchmarkReadDelaware(b *testing.B) {
	path := realExtract(b, delaware)
	b.ReportAllocs()
	for b.Loop() {
		mustRead(b, path)
	}
}

func BenchmarkReadAndorra(b *testing.B) {
	path := realExtract(b, andorra)
	b.ReportAllocs()
	for b.Loop() {
		mustRead(b, path)
	}
}
