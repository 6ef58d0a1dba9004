package scratch

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"
)

func open(t testing.TB, parent string) *Dir {
	t.Helper()
	d, err := Open(parent, "out.region", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func check(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// checkFreed fails if temporary files are left.
func checkFreed(t interface{ Fatalf(string, ...any) }, d *Dir, err error) {
	if files, _ := os.ReadDir(d.Path()); err != nil || d.Size() != 0 || len(files) != 1 { // the lock
		t.Fatalf("%d bytes are left in %v, %v", d.Size(), files, err)
	}
}

// TestMain: as a process of its own, this is a build that holds a directory until it is killed.
func TestMain(m *testing.M) {
	if parent := os.Getenv("SCRATCH_TEST_HOLD"); parent != "" {
		d, err := Open(parent, "out.region", 0)
		if err == nil {
			_, err = NewStream(d, "left").Write(make([]byte, 1<<20))
		}
		fmt.Println(err)
		time.Sleep(time.Minute)
		return
	}
	os.Exit(m.Run())
}

// TestKilled: a build removes what a killed one left, and nothing of one that still runs or of another region.
func TestKilled(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	hold := exec.Command(os.Args[0])
	hold.Env = append(os.Environ(), "SCRATCH_TEST_HOLD="+parent)
	out, err := hold.StdoutPipe()
	check(t, cmp.Or(err, hold.Start()))
	defer hold.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "<nil>\n" {
		t.Fatal(line, err)
	}
	check(t, os.Mkdir(filepath.Join(parent, ".out.region.empty"+suffix), 0o700))
	check(t, os.Mkdir(filepath.Join(parent, ".other.region.1"+suffix), 0o700))
	left := func() int {
		check(t, open(t, parent).Close())
		names, err := filepath.Glob(filepath.Join(parent, ".*"))
		check(t, err)
		return len(names)
	}
	if n := left(); n != 2 {
		t.Errorf("%d directories, not one that is in use and that of another region", n)
	}
	check(t, hold.Process.Kill())
	_ = hold.Wait() // it was killed
	if n := left(); n != 1 {
		t.Errorf("%d directories are left", n)
	}
}

// TestTogether: builds of the same name that begin and end at the same time do not disturb each other.
func TestTogether(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	var all errgroup.Group
	for range 8 {
		all.Go(func() error {
			for range 50 {
				d, err := Open(parent, "out.region", 0)
				if err != nil {
					return err
				}
				if err := cmp.Or(NewArray[byte](d, "a").Append(1), NewArray[byte](d, "b").Append(1), d.Close()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	check(t, all.Wait())
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestArray: an array does what a slice does, and takes bounded room on the disk.
func TestArray(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		a := NewArray[[3]uint32](d, "array")
		var want [][3]uint32
		most := 0
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			n := rapid.IntRange(0, 5000).Draw(t, "n")
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				v := slices.Repeat([][3]uint32{{1, uint32(len(want)), 7}}, n)
				check(t, a.Append(v...))
				want = append(want, v...)
			case 1:
				added, err := a.Extend(n)
				if err != nil || len(added) != n {
					t.Fatal(len(added), err)
				}
				want = append(want, make([][3]uint32, n)...)
			case 2:
				a.Truncate(n)
				want = want[:min(n, len(want))]
			}
			if !slices.Equal(a.Slice(), want) || a.Len() != len(want) {
				t.Fatalf("%d elements that differ from %d", a.Len(), len(want))
			}
			most = max(most, len(want))
			if n := d.Size(); n < int64(most)*12 || n >= int64(most)*24+pageBytes || d.Peak() < n {
				t.Fatalf("%d elements, at most %d, in %d bytes", len(want), most, n)
			}
		}
		checkFreed(t, d, a.Free())
	})
}

// TestSorter: the order of the records does not depend on the memory and the number of processors. A caller can end it.
func TestSorter(t *testing.T) {
	type record struct{ key, value uint64 }
	d := open(t, t.TempDir())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 5} {
		runtime.GOMAXPROCS(processors)
		for _, n := range []int{0, 1, 1023, 1024, 1025, 5000, 200_000} {
			for _, memory := range []int64{0, 100_000, 1 << 21, 1 << 30} {
				s := NewSorter(d, "sorter", memory, func(a, b record) int {
					return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value))
				})
				rng := rand.New(rand.NewPCG(1, 2))
				for i := range n {
					check(t, s.Add(record{rng.Uint64N(uint64(n)), uint64(i)}))
				}
				last, seen, sum := record{}, 0, uint64(0)
				checkFreed(t, d, s.Each(func(v *record) error {
					if seen > 0 && (v.key < last.key || v.key == last.key && v.value <= last.value) {
						t.Fatalf("%v after %v", *v, last)
					}
					last, seen, sum = *v, seen+1, sum+v.value
					return nil
				}))
				if seen != n || n > 0 && sum != uint64(n)*uint64(n-1)/2 {
					t.Errorf("%d of %d records, with %d bytes and %d processors", seen, n, memory, processors)
				}
			}
		}
	}
	s := NewSorter(d, "sorter", 0, cmp.Compare[uint32])
	check(t, s.Add(1))
	if err := s.Each(func(*uint32) error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	checkFreed(t, d, nil)
}

// TestTexts: each text has one number, in the order they came, and is found by it.
func TestTexts(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	texts, err := NewTexts(d, "texts")
	check(t, err)
	const n = 20_000 // the table doubles a few times
	for range 2 {
		for i := range n {
			number, err := texts.Add(fmt.Sprintf("street %d", i))
			if err != nil || number != uint32(i+1) {
				t.Fatalf("street %d has number %d, %v", i, number, err)
			}
		}
	}
	for i := range n {
		text := fmt.Sprintf("street %d", i)
		if number := texts.Find(text); number != uint32(i+1) || texts.Text(number) != text {
			t.Fatalf("%s is found as %d", text, number)
		}
	}
	number, err := texts.Add("")
	if number != 0 || err != nil || texts.Text(0) != "" || texts.Find("elsewhere") != 0 || texts.Len() != n+1 {
		t.Errorf("%d texts; the empty text is %d, %v", texts.Len(), number, err)
	}
	checkFreed(t, d, texts.Free())
}

// TestFull: when a file cannot grow, as on a full disk, each attempt fails and the content stays: other goroutines go on
// for a moment.
func TestFull(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"bytes", "ends", "table"} {
		d := open(t, t.TempDir())
		texts, err := NewTexts(d, "texts")
		check(t, err)
		n := 0
		add := func(count int) (err error) {
			for range count {
				if _, err := texts.Add(fmt.Sprint("text ", n)); err != nil {
					return err
				}
				n++
			}
			return nil
		}
		check(t, add(10))
		check(t, map[string]*mapping{"bytes": &texts.bytes.file, "ends": &texts.ends.file, "table": &texts.table.file}[file].file.Close())
		d.closed = file == "table" // its file is replaced by a larger one
		for range 3 {
			if err := add(1 << 17); err == nil {
				t.Errorf("%s: no error", file)
			}
		}
		for i := range uint32(10) {
			if text := fmt.Sprint("text ", i); texts.Text(i+1) != text || texts.Find(text) != i+1 {
				t.Errorf("%s: text %d is %q, found at %d", file, i+1, texts.Text(i+1), texts.Find(text))
			}
		}
	}
}

// TestStream: a stream can be read and written in turn.
func TestStream(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	s := NewStream(d, "stream")
	var want []byte
	for _, n := range []int{0, 1, 200_000, 3} {
		for i := range n {
			_, err := s.Write([]byte{byte(i)})
			check(t, err)
			want = append(want, byte(i))
		}
		if content := s.Bytes(); !slices.Equal(content, want) {
			t.Fatalf("%d bytes of %d", len(content), len(want))
		}
	}
	checkFreed(t, d, s.Free())
}

// TestRecords: records come out by their keys, those of equal keys in the order in which they were added.
func TestRecords(t *testing.T) {
	t.Parallel()
	d := open(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		r := NewRecords(d, "records")
		type added struct{ key, number uint64 }
		var want []added
		keys := rapid.Uint64Range(0, rapid.SampledFrom([]uint64{0, 10, math.MaxUint64}).Draw(t, "greatest key"))
		for i, key := range rapid.SliceOfN(keys, 0, 50).Draw(t, "keys") {
			want = append(want, added{key, uint64(i)})
			check(t, r.Add(key, AppendText(binary.AppendVarint(binary.AppendUvarint([]byte{9}, uint64(i)), -int64(key)), "text")))
		}
		slices.SortStableFunc(want, func(a, b added) int { return cmp.Compare(a.key, b.key) })
		ctx, cancel := context.WithCancel(context.Background())
		for range 2 { // sorting again changes nothing
			if err := r.Sort(ctx); err != nil || r.Len() != len(want) {
				t.Fatalf("%d records of %d, %v", r.Len(), len(want), err)
			}
			for i, w := range want {
				row := r.Read(i)
				mark, got := row.Byte(), added{r.Key(i), row.Uvarint()}
				key, text := -row.Varint(), string(row.Text())
				if mark != 9 || got != w || uint64(key) != w.key || text != "text" {
					t.Fatalf("record %d is %d, %v, %d, %q, not %v", i, mark, got, key, text, w)
				}
			}
		}
		if cancel(); !errors.Is(r.Sort(ctx), context.Canceled) {
			t.Fatal("sorting goes on")
		}
		key := keys.Draw(t, "key")
		first, ok := r.Find(key)
		at, there := slices.BinarySearchFunc(want, key, func(a added, key uint64) int { return cmp.Compare(a.key, key) })
		if first != at || ok != there {
			t.Fatalf("key %d is found at %d, %v, not at %d, %v", key, first, ok, at, there)
		}
		checkFreed(t, d, r.Free())
	})
}
