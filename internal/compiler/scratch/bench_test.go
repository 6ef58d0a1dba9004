package scratch

import (
	"cmp"
	"testing"
)

// BenchmarkArray: 64 MiB that come record by record, and are read once.
func BenchmarkArray(b *testing.B) {
	const n = 4 << 20
	d := open(b, b.TempDir())
	for b.Loop() {
		a := NewArray[record](d, "array")
		for i := range uint64(n) {
			if err := a.Append(record{i, i}); err != nil {
				b.Fatal(err)
			}
		}
		sum := uint64(0)
		for _, r := range a.Slice() {
			sum += r.key
		}
		if sum == 0 {
			b.Fatal("the records are gone")
		}
		check(b, a.Free())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}

func BenchmarkSorter(b *testing.B) {
	for name, memory := range map[string]int64{"memory": 1 << 30, "disk": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			d := open(b, b.TempDir())
			for b.Loop() {
				s := NewSorter(d, "sorter", memory, func(a, b record) int { return cmp.Compare(a.key, b.key) })
				for i := range uint64(1 << 20) {
					if err := s.Add(record{i * 0x9E3779B97F4A7C15, i}); err != nil {
						b.Fatal(err)
					}
				}
				check(b, s.Each(func(*record) error { return nil }))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<20), "ns/record")
		})
	}
}
