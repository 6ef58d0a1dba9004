package integration

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/build/memory"
	"github.com/mapsedge/caddy-maps/internal/evaluation/dataset"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// twoDelawares is an extract of two copies of Delaware.
func twoDelawares(t *testing.T) string {
	t.Helper()
	delaware, err := dataset.Delaware(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "two.osm.pbf")
	if _, err := dataset.Copies(t.Context(), delaware, path, 2); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBuildMemory: a build stays under the memory that it is given and under six times its extract of temporary
// files, and makes the same bytes with little memory as with much.
func TestBuildMemory(t *testing.T) {
	extract, dir := twoDelawares(t), t.TempDir()
	const limit = memory.Least
	var files [2][]byte
	for i, size := range []string{"256MiB", "4GiB"} {
		output := filepath.Join(dir, size+".region")
		b, err := dataset.Command(plain, "--memory", size)(t.Context(), extract, output)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MB anonymous, %d MB of temporary files for an extract of %d MB", size, b.Anonymous>>20, b.Scratch>>20,
			b.Extract>>20)
		if i == 0 && b.Anonymous > limit {
			t.Errorf("it took %d MB of memory", b.Anonymous>>20)
		}
		if b.Scratch > 6*b.Extract {
			t.Errorf("it took %d MB of temporary files", b.Scratch>>20)
		}
		if files[i], err = os.ReadFile(output); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the memory changes what is built")
	}
}

// TestBuildKilled: what a killed build leaves is gone after the next one, wherever its temporary files are.
func TestBuildKilled(t *testing.T) {
	pace := testpace.Watch(t)
	extract := twoDelawares(t)
	for name, temp := range map[string]string{"beside the output": "", "elsewhere": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			output := filepath.Join(dir, "two.region")
			args := []string{"maps", "build", extract, "--output", output}
			if temp != "" {
				args = append(args, "--temp", temp)
			}
			left := func() (files []string) {
				for _, d := range []string{dir, temp} {
					found, err := filepath.Glob(filepath.Join(d, ".two.region.*", "*"))
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, found...)
				}
				return files
			}
			killed := exec.Command(plain, args...)
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			for began := time.Now(); len(left()) < 8; time.Sleep(time.Millisecond) {
				if time.Since(began) > pace.Allow(time.Minute) {
					t.Fatalf("only %v after a minute", left())
				}
			}
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = killed.Wait() // it was killed
			if len(left()) == 0 {
				t.Fatal("nothing is left of a killed build")
			}
			if out, err := exec.CommandContext(t.Context(), plain, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if files := left(); len(files) != 0 {
				t.Errorf("%v are left", files)
			}
			if _, stderr, err := maps(t, "", "info", output, "--verify"); err != nil {
				t.Errorf("%v: %s", err, stderr)
			}
		})
	}
}
