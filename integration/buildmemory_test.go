package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// TestBuildMemory: a build keeps to its memory, and to temporary files of eight times its extract. It makes the same bytes
// with little memory as by default.
func TestBuildMemory(t *testing.T) {
	leaveOut(t, "compiles a large map")
	t.Parallel()
	output := filepath.Join(t.TempDir(), "little.region")
	b, err := testregion.Command(plain, "--memory", fmt.Sprint(compiler.LeastMemory))(t.Context(), extract, output)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB anonymous, %d MB of temporary files for an extract of %d MB", b.Anonymous>>20, b.Scratch>>20,
		b.Extract>>20)
	if b.Anonymous > compiler.LeastMemory {
		t.Errorf("it took %d MB of memory", b.Anonymous>>20)
	}
	if b.Scratch > 8*b.Extract {
		t.Errorf("it took %d MB of temporary files", b.Scratch>>20)
	}
	little, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	usual, err := os.ReadFile(region)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(little, usual) {
		t.Error("the memory changes what is built")
	}
}

// TestBuildKilled: what a killed build leaves is gone after the next one of that name, wherever its temporary files
// are.
func TestBuildKilled(t *testing.T) {
	leaveOut(t, "begins to compile a map again and again")
	t.Parallel()
	small := filepath.Join(t.TempDir(), "village.osm")
	if err := os.WriteFile(small, []byte(village), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, temp := range map[string]string{"beside the output": "", "elsewhere": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			output := filepath.Join(dir, "delaware.region")
			args := []string{"maps", "build", "--output", output}
			if temp != "" {
				args = append(args, "--temp", temp)
			}
			left := func() (files []string) {
				for _, d := range []string{dir, temp} {
					found, err := filepath.Glob(filepath.Join(d, ".delaware.region.*", "*"))
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, found...)
				}
				return files
			}
			killed := exec.Command(plain, append(args, extract)...)
			if err := killed.Start(); err != nil {
				t.Fatal(err)
			}
			for began := time.Now(); len(left()) < 8; time.Sleep(time.Millisecond) {
				if time.Since(began) > 3*time.Minute {
					t.Fatalf("only %v after three minutes", left())
				}
			}
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = killed.Wait() // it was killed
			if len(left()) == 0 {
				t.Fatal("nothing is left of a killed build")
			}
			if out, err := exec.CommandContext(t.Context(), plain, append(args, small)...).CombinedOutput(); err != nil {
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
