package regions

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// put renames a file into place.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// serves fails unless the region covers Dover.
func serves(t *testing.T, s *Watched) {
	t.Helper()
	p := pinned(t, s)
	defer p.Release()
	if covered, err := p.Covers(dover); !covered || err != nil {
		t.Errorf("covered %v, %v", covered, err)
	}
}

func written(t *testing.T, words int) (content []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "y.region")
	testregion.Write(t, path, secondData, words, dover, newcomer)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A damaged copy never replaces a good file: neither one that was cut short nor one with a flipped bit, anywhere.
func TestDamagedCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	checksum := s.status().Checksum
	whole := written(t, 50_000)
	for i := range 400 {
		content := append([]byte(nil), whole...)
		at := rand.IntN(len(content))
		if i%4 == 0 {
			content = content[:at]
		} else {
			content[at] ^= 1 << rand.IntN(8)
		}
		put(t, path, content)
		if err := s.Look(t.Context(), i%2 == 0); err == nil {
			t.Fatalf("copy %d of %d bytes, changed at %d, was taken", i, len(content), at)
		}
		status := s.status()
		if status.Status != Stale || status.Problem == nil || status.Checksum != checksum || status.Unusable {
			t.Fatalf("copy %d: %+v", i, status)
		}
		serves(t, s)
	}
	put(t, path, whole)
	err := s.Look(t.Context(), false)
	if status := s.status(); err != nil || status.Status != OK || !status.Timestamp.Equal(secondData) {
		t.Errorf("the whole copy: %v, %+v", err, status)
	}
}

// A new file that is no good leaves the old one in service, is tried once for each change, and gives one line when it
// stays.
func TestBadReplacement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, logs := testWatched(t, path)
	lines := func() int { return logs.FilterLevelExact(zapcore.ErrorLevel).Len() }
	for name, content := range map[string][]byte{
		"empty": nil, "foreign": []byte("no region at all"), "truncated": whole[:len(whole)-1], "header only": whole[:4096],
	} {
		before := lines()
		put(t, path, content)
		for look := range 4 {
			if err := s.Look(t.Context(), false); err == nil {
				t.Fatalf("%s: taken", name)
			}
			if want := min(look, 1); lines()-before != want {
				t.Errorf("%s: %d lines after look %d, want %d", name, lines()-before, look, want)
			}
		}
		serves(t, s)
		if status := s.status(); status.Status != Stale || status.Problem == nil {
			t.Errorf("%s: status %+v", name, status)
		}
	}
	before := lines()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Look(t.Context(), false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removed: %v", err)
		}
	}
	if lines()-before != 1 || s.status().Status != Stale {
		t.Errorf("removed: %d lines, %+v", lines()-before, s.status())
	}
	put(t, path, whole)
	if err := s.Look(t.Context(), false); err != nil || s.status().Status != OK || s.status().Problem != nil {
		t.Errorf("repaired: %v, %+v", err, s.status())
	}
}

// A verification keeps no request waiting, and ends with the process. What waits for it may give up.
func TestVerificationInTheBackground(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	reached := make(chan struct{})
	s.verify = func(f *region.File, ctx context.Context) error {
		close(reached)
		<-ctx.Done() // of a file that takes long to read
		return f.VerifyWhole(ctx)
	}
	put(t, path, written(t, 1))
	ctx, cancel := context.WithCancel(t.Context())
	looked := make(chan error, 1)
	go func() { looked <- s.Look(ctx, false) }()
	<-reached
	atOnce(t, "a request", func() { serves(t, s) })
	atOnce(t, "the status", func() {
		if status := s.status(); status.Status != OK || !status.Timestamp.Equal(firstData) {
			t.Errorf("status: %+v", status)
		}
	})
	cancel()
	if err := <-looked; !errors.Is(err, ErrUnderWay) {
		t.Errorf("look: %v", err)
	}
	atOnce(t, "the end", func() { _ = s.Destruct() })
	nothingMapped(t, dir)
}

// A file that Check accepted is not read again when it is renamed into place; another one is.
func TestCheckedFileIsNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	verified := 0
	s.verify = func(f *region.File, ctx context.Context) error {
		verified++
		return f.VerifyWhole(ctx)
	}
	for i, check := range []bool{true, false} {
		verified = 0
		if err := os.WriteFile(path+".part", written(t, 1+i), 0o600); err != nil {
			t.Fatal(err)
		}
		if check {
			if err := s.Check(t.Context(), path+".part"); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(path+".part", path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.Look(t.Context(), true); err != nil || verified != 1 {
				t.Errorf("checked before: %v; read %d times, %v", check, verified, err)
			}
		}
	}
}

// The first file serves without being read whole. A look that is to verify it finds the damage, once for the log.
func TestVerifyTheFileInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	content := written(t, 200_000)
	at := len(content) / 4 * 3 // where requests for Dover do not read
	good := content[at]
	content[at] ^= 1
	put(t, path, content)
	s, logs := testWatched(t, path)
	serves(t, s)
	var damage *region.DamageError
	for range 3 {
		if err := s.Look(t.Context(), true); !errors.As(err, &damage) || s.status().Status != Damaged || !s.Damaged() {
			t.Errorf("%v, %+v", err, s.status())
		}
		serves(t, s) // what is not damaged
	}
	if n := logs.FilterMessageSnippet("a region file is damaged").Len(); n != 3 {
		t.Errorf("%d lines about a file that was opened 3 times", n)
	}
	content[at] = good
	put(t, path, content)
	if err := s.Look(t.Context(), false); err != nil || s.status().Status != OK {
		t.Errorf("repaired: %v, %+v", err, s.status())
	}
}
