package regions

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// A file that is cut short in place cannot be read any more: an error, never a crash, until the path holds a whole
// file.
func TestOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 100_000, dover)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, logs := testWatched(t, path)
	before := pinned(t, s)
	defer before.Release()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	var damage *region.DamageError
	if _, err := before.Covers(dover); !errors.As(err, &damage) || before.Report(err) != err {
		t.Errorf("a read of a page that is gone: %v", err)
	}
	_ = before.Report(damage)
	reports := logs.FilterMessageSnippet("a region file is damaged")
	if reports.Len() != 1 || reports.All()[0].ContextMap()["path"] != path ||
		reports.All()[0].ContextMap()["stack"] == nil {
		t.Errorf("reports of damage: %+v", reports.All())
	}
	for range 2 {
		if err := s.Look(t.Context(), false); err == nil {
			t.Error("the truncated file was taken")
		}
	}
	if _, err := s.pin(); !errors.As(err, &damage) || s.status().Status != Damaged {
		t.Errorf("after the look: %v, %+v", err, s.status())
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Look(t.Context(), false); err != nil || s.status().Status != OK {
		t.Errorf("written again: %v, %+v", err, s.status())
	}
	serves(t, s)
}

// A file that is written over in place while it is read: the answer is taken from the file as it is then, or is an
// error.
func TestAskWhileOverwritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: Windows lets nobody write over a file that is mapped")
	}
	path := filepath.Join(t.TempDir(), "x.region")
	other := filepath.Join(t.TempDir(), "y.region")
	testregion.Write(t, path, firstData, 1, dover)
	testregion.Write(t, other, secondData, 1, newcomer)
	s, logs := testWatched(t, path)
	content, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	changes := 1
	times := 0
	ask := func(p *Pinned) (bool, error) {
		if times++; times <= changes {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			future := time.Now().Add(time.Duration(times) * time.Hour)
			if err := os.Chtimes(path, future, future); err != nil {
				t.Fatal(err)
			}
		}
		return p.Covers(newcomer)
	}
	if covered, err := Ask(s.pin, ask); !covered || err != nil || times != 2 {
		t.Errorf("after %d attempts: %v, %v", times, covered, err)
	}
	if n := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); n != 0 {
		t.Errorf("%d errors in the log about a file that is whole again", n)
	}
	times, changes = 0, 2
	var damage *region.DamageError
	if _, err := Ask(s.pin, ask); !errors.As(err, &damage) || times != 2 ||
		logs.FilterMessageSnippet("damaged").Len() != 1 {
		t.Errorf("with a file that is never at rest, after %d attempts: %v; %v", times, err, logs.All())
	}

	// A block that does not match its checksum shows in the region's status.
	changes = 0
	content[len(content)/2] ^= 1 // in the coverage or in the description
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Ask(s.pin, func(p *Pinned) (bool, error) { return p.Covers(newcomer) })
	if status := s.status(); err == nil || status.Status != Damaged {
		t.Errorf("a flipped bit: %v, %+v", err, status)
	}
}
