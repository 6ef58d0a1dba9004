package scratch

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
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

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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

// TestKilled: what a killed build left is removed by the next one, and nothing of one that still runs, nor of others.
func TestKilled(t *testing.T) {
	parent := t.TempDir()
	hold := exec.Command(os.Args[0])
	hold.Env = append(os.Environ(), "SCRATCH_TEST_HOLD="+parent)
	out, err := hold.StdoutPipe()
	check(t, err)
	check(t, hold.Start())
	defer hold.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "<nil>\n" {
		t.Fatal(line, err)
	}
	check(t, os.Mkdir(filepath.Join(parent, ".out.region.empty"+suffix), 0o700))
	check(t, os.Mkdir(filepath.Join(parent, ".other.region.1"+suffix), 0o700))
	here := func() int {
		names, err := filepath.Glob(filepath.Join(parent, ".*"))
		check(t, err)
		return len(names)
	}
	check(t, open(t, parent).Close())
	if n := here(); n != 2 {
		t.Errorf("%d directories, not one that is in use and that of another build", n)
	}
	check(t, hold.Process.Kill())
	_ = hold.Wait() // it was killed
	check(t, open(t, parent).Close())
	if n := here(); n != 1 {
		t.Errorf("%d directories are left", n)
	}
}

// TestTogether: builds of the same name that begin and end at the same time do not disturb each other.
func TestTogether(t *testing.T) {
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

// TestArray: an array does what a slice does, and its room on the disk is counted and given back.
func TestArray(t *testing.T) {
	d := open(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		a := NewArray[[3]uint32](d, "array")
		defer a.Free()
		var want [][3]uint32
		most := 0
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			n := rapid.IntRange(0, 5000).Draw(t, "n")
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				v := make([][3]uint32, n)
				for i := range v {
					v[i] = [3]uint32{uint32(i), uint32(len(want)), 7}
				}
				if err := a.Append(v...); err != nil {
					t.Fatal(err)
				}
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
			if n := d.Size(); n < int64(most)*12 || n >= int64(most)*24+pageBytes {
				t.Fatalf("%d elements, at most %d, in %d bytes", len(want), most, n)
			}
		}
	})
	if d.Size() != 0 || d.Peak() == 0 {
		t.Errorf("%d bytes are in use after all, at most %d were", d.Size(), d.Peak())
	}
	if files, err := os.ReadDir(d.Path()); err != nil || len(files) != 1 {
		t.Errorf("%v beside the lock, %v", files, err)
	}
}

// TestNoPointers: what the garbage collector would have to know is not kept in a file.
func TestNoPointers(t *testing.T) {
	d := open(t, t.TempDir())
	for name, make := range map[string]func(){
		"string": func() { NewArray[string](d, "x") },
		"slice":  func() { NewArray[struct{ a []int }](d, "x") },
		"array":  func() { NewArray[[2]*int](d, "x") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("is taken")
				}
			}()
			make()
		})
	}
}

type record struct{ key, value uint64 }

// TestSorter: with much memory and with little, on one processor and on several, the records come out in the same order.
func TestSorter(t *testing.T) {
	for _, processors := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d processors", processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			testSorter(t)
		})
	}
}

func testSorter(t *testing.T) {
	d := open(t, t.TempDir())
	for _, n := range []int{0, 1, 1023, 1024, 1025, 5000, 200_000} {
		for _, memory := range []int64{0, 100_000, 1 << 21, 1 << 30} {
			t.Run(fmt.Sprintf("%d records in %d bytes", n, memory), func(t *testing.T) {
				s := NewSorter(d, "sorter", memory, func(a, b record) int {
					return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value))
				})
				rng := rand.New(rand.NewPCG(1, 2))
				for i := range n {
					check(t, s.Add(record{rng.Uint64N(uint64(n)), uint64(i)}))
				}
				if s.Len() != n {
					t.Errorf("%d of %d records", s.Len(), n)
				}
				last, seen, sum := record{}, 0, uint64(0)
				check(t, s.Each(func(v *record) error {
					if seen > 0 && (v.key < last.key || v.key == last.key && v.value <= last.value) {
						t.Fatalf("%v after %v", *v, last)
					}
					last, seen, sum = *v, seen+1, sum+v.value
					return nil
				}))
				if seen != n || n > 0 && sum != uint64(n)*uint64(n-1)/2 {
					t.Errorf("%d of %d records", seen, n)
				}
			})
		}
	}
	if d.Size() != 0 {
		t.Errorf("%d bytes are left", d.Size())
	}
}

// TestSorterEnds: what the caller ends leaves no file.
func TestSorterEnds(t *testing.T) {
	d := open(t, t.TempDir())
	s := NewSorter(d, "sorter", 0, cmp.Compare[uint32])
	for i := range uint32(5000) {
		check(t, s.Add(i))
	}
	if err := s.Each(func(*uint32) error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if d.Size() != 0 {
		t.Errorf("%d bytes are left", d.Size())
	}
}

// TestTexts: each text has one number, in the order they came, and is found by it.
func TestTexts(t *testing.T) {
	d := open(t, t.TempDir())
	texts, err := NewTexts(d, "texts")
	check(t, err)
	const n = 20_000 // the table doubles a few times
	for range 2 {
		for i := range n {
			number, err := texts.Add(fmt.Sprintf("street %d", i))
			check(t, err)
			if number != uint32(i+1) {
				t.Fatalf("street %d has number %d", i, number)
			}
		}
	}
	if number := texts.Find("elsewhere"); number != 0 || texts.Len() != n+1 {
		t.Errorf("a text that is not there is found as %d; %d texts", number, texts.Len())
	}
	if number, err := texts.Add(""); number != 0 || err != nil || texts.Text(0) != "" {
		t.Errorf("the empty text is %d, %v", number, err)
	}
	for i := range n {
		if got := texts.Find(fmt.Sprintf("street %d", i)); got != uint32(i+1) {
			t.Fatalf("street %d is found as %d", i, got)
		}
		if got := texts.Text(uint32(i + 1)); got != fmt.Sprintf("street %d", i) {
			t.Fatalf("text %d is %q", i+1, got)
		}
	}
	if texts.Len() != n+1 {
		t.Errorf("%d texts", texts.Len())
	}
	check(t, texts.Free())
	if d.Size() != 0 {
		t.Errorf("%d bytes are left", d.Size())
	}
}

// A file that cannot grow, as on a full disk, is an error each time, and what was there before stays: other goroutines
// go on for a moment.
func TestFull(t *testing.T) {
	for _, file := range []string{"bytes", "ends", "table"} {
		d := open(t, t.TempDir())
		texts, err := NewTexts(d, "texts")
		check(t, err)
		n := 0
		add := func() (err error) {
			for range 1 << 17 {
				if _, err := texts.Add(fmt.Sprint("text ", n)); err != nil {
					return err
				}
				n++
			}
			return nil
		}
		for range 10 {
			_, err = texts.Add(fmt.Sprint("text ", n))
			check(t, err)
			n++
		}
		check(t, map[string]*mapping{"bytes": &texts.bytes.file, "ends": &texts.ends.file,
			"table": &texts.table.file}[file].file.Close())
		if file == "table" {
			d.closed = true // its file is replaced by a larger one
		}
		for range 3 {
			if err := add(); err == nil {
				t.Errorf("%s: no error", file)
			}
		}
		for i := range uint32(10) {
			if got, want := texts.Text(i+1), fmt.Sprint("text ", i); got != want {
				t.Errorf("%s: text %d is %q", file, i+1, got)
			}
		}
		if got := texts.Find("text 3"); got != 4 {
			t.Errorf("%s: text 3 has number %d", file, got)
		}
	}
}

func TestStream(t *testing.T) {
	d := open(t, t.TempDir())
	s := NewStream(d, "stream")
	written := 0
	for _, n := range []int{0, 1, 200_000, 3} {
		for i := range n {
			_, err := s.Write([]byte{byte(i)})
			check(t, err)
		}
		r, err := s.Reader()
		check(t, err)
		content, err := io.ReadAll(r)
		check(t, err)
		if written += n; len(content) != written {
			t.Errorf("%d bytes of %d", len(content), written)
		}
		for i := range n {
			if content[len(content)-n+i] != byte(i) {
				t.Fatalf("byte %d differs", i)
			}
		}
	}
	check(t, s.Free())
	if d.Size() != 0 {
		t.Errorf("%d bytes are left", d.Size())
	}
}
