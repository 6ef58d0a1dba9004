package regions

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// isDamage checks that an error is about a damaged file.
func isDamage(t *testing.T, what string, err error) {
	t.Helper()
	if _, ok := errors.AsType[*region.DamageError](err); !ok {
		t.Errorf("%s: %v, want damage", what, err)
	}
}

// TestDamagedCopies: a damaged copy never replaces a good file, neither one that was cut short nor one with a flipped
// bit, anywhere.
func TestDamagedCopies(t *testing.T) {
	f := newFixture(t)
	whole := written(t, 50_000)
	for i := range 400 {
		content := append([]byte(nil), whole...)
		at := rand.IntN(len(content))
		if i%4 == 0 {
			content = content[:at]
		} else {
			content[at] ^= 1 << rand.IntN(8)
		}
		put(t, f.path, content)
		if f.is(t, i%2 == 0, Stale, firstData); t.Failed() {
			t.Fatalf("copy %d of %d bytes, changed at %d, was taken", i, len(content), at)
		}
		f.serves(t)
	}
	put(t, f.path, whole)
	f.is(t, false, OK, secondData)
}

// TestBadReplacement: a new file that is no good, or none, leaves the old one in service, is tried once for each change,
// and gives one line when it stays.
func TestBadReplacement(t *testing.T) {
	f := newFixture(t)
	whole := readFile(t, f.path)
	for name, replace := range map[string]func(){
		"empty":       func() { put(t, f.path, nil) },
		"foreign":     func() { put(t, f.path, []byte("no region at all")) },
		"truncated":   func() { put(t, f.path, whole[:len(whole)-1]) },
		"header only": func() { put(t, f.path, whole[:4096]) },
		"removed":     func() { _ = os.Remove(f.path) },
	} {
		before := f.errors()
		replace()
		for poll := range 4 {
			err := f.is(t, false, Stale, firstData)
			if n := f.errors() - before; n != min(poll, 1) || errors.Is(err, fs.ErrNotExist) != (name == "removed") {
				t.Errorf("%s: %d lines after poll %d, %v", name, n, poll, err)
			}
		}
		f.serves(t)
	}
	put(t, f.path, whole)
	f.is(t, false, OK, firstData)
}

// TestVerificationInTheBackground: a verification keeps no request waiting, and ends with the process. A caller that
// waits for it may give up.
func TestVerificationInTheBackground(t *testing.T) {
	f := newFixture(t)
	reached := make(chan struct{})
	f.verify = func(file *region.File, ctx context.Context) error {
		close(reached)
		<-ctx.Done() // of a file that takes long to read
		return file.VerifyWhole(ctx)
	}
	put(t, f.path, written(t, 1))
	ctx, cancel := context.WithCancel(t.Context())
	polled := make(chan error, 1)
	go func() { polled <- f.Poll(ctx, false) }()
	<-reached
	atOnce(t, "a request and the status", func() {
		if f.serves(t); f.status().Status != OK || !f.status().Timestamp.Equal(firstData) {
			t.Errorf("status: %+v", f.status())
		}
	})
	cancel()
	if err := <-polled; !errors.Is(err, ErrUnderWay) {
		t.Errorf("poll: %v", err)
	}
	atOnce(t, "the end", func() { _ = f.Destruct() })
	f.unmapped(t)
}

// TestCheckedFileIsNotReadAgain: a file that Check accepted is not read again when it is renamed into place; another one
// is.
func TestCheckedFileIsNotReadAgain(t *testing.T) {
	f := newFixture(t)
	verified := 0
	f.verify = func(file *region.File, ctx context.Context) error {
		verified++
		return file.VerifyWhole(ctx)
	}
	for i, check := range []bool{true, false} {
		verified = 0
		part := f.path + ".part"
		err := os.WriteFile(part, written(t, 1+i), 0o600)
		if check {
			err = errors.Join(err, f.Check(t.Context(), part))
		}
		if err = errors.Join(err, os.Rename(part, f.path)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if f.is(t, true, OK, secondData); verified != 1 {
				t.Errorf("checked before: %v; read %d times", check, verified)
			}
		}
	}
}

// TestVerifyTheFileInUse: the first file serves without being read whole. A poll that verifies it finds the damage, once
// for the log.
func TestVerifyTheFileInUse(t *testing.T) {
	f := newFixture(t)
	content := written(t, 200_000)
	at := len(content) / 4 * 3 // where requests for Dover do not read
	content[at] ^= 1
	put(t, f.path, content)
	f = watch(t, Options{Path: f.path})
	f.serves(t)
	for range 3 {
		isDamage(t, "a poll", f.is(t, true, Damaged, secondData))
		f.serves(t) // the part that is not damaged
	}
	if n := f.logs.FilterMessageSnippet("a region file is damaged").Len(); n != 3 || !f.Damaged() {
		t.Errorf("%d lines about a file that was opened 3 times", n)
	}
	content[at] ^= 1
	put(t, f.path, content)
	f.is(t, false, OK, secondData)
}

// TestOverwritten: a file that is cut short in place cannot be read any more. That is an error, never a crash, until the
// path holds a whole file.
func TestOverwritten(t *testing.T) {
	f := newFixture(t)
	testregion.Write(t, f.path, firstData, 100_000, dover)
	f.is(t, false, OK, firstData)
	whole, before := readFile(t, f.path), f.pinned(t)
	defer before.Release()
	if err := os.Truncate(f.path, 4096); err != nil {
		t.Fatal(err)
	}
	_, err := before.Covers(dover)
	isDamage(t, "a read of a page that is gone", err)
	for range 2 {
		if before.Report(err) != err {
			t.Error("the error is not returned")
		}
	}
	reports := f.logs.FilterMessageSnippet("a region file is damaged").All()
	if len(reports) != 1 || reports[0].ContextMap()["path"] != f.path || reports[0].ContextMap()["stack"] == nil {
		t.Errorf("reports of damage: %+v", reports)
	}
	for range 2 {
		f.is(t, false, Damaged, firstData)
	}
	_, err = f.pin()
	isDamage(t, "a request", err)
	if err := os.WriteFile(f.path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	f.is(t, false, OK, firstData)
	f.serves(t)
}

// TestAskWhileOverwritten: when a file is written over in place while it is read, the answer is taken from the file as it
// is then, or is an error.
func TestAskWhileOverwritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: Windows lets no one write over a file that is mapped")
	}
	f := newFixture(t)
	content := written(t, 1)
	ask := func(changes int) (covered bool, times int, err error) {
		covered, err = Ask(f.pin, func(p *Pinned) (bool, error) {
			if times++; times <= changes {
				future := time.Now().Add(time.Duration(times) * time.Hour)
				if err := errors.Join(os.WriteFile(f.path, content, 0o600), os.Chtimes(f.path, future, future)); err != nil {
					t.Fatal(err)
				}
			}
			return p.Covers(newcomer)
		})
		return covered, times, err
	}
	if covered, times, err := ask(1); !covered || err != nil || times != 2 || f.errors() != 0 {
		t.Errorf("after %d attempts: %v, %v, and %d errors in the log about a file that is whole again", times, covered, err,
			f.errors())
	}
	_, times, err := ask(2)
	if isDamage(t, "a file that never rests", err); times != 2 || f.logs.FilterMessageSnippet("damaged").Len() != 1 {
		t.Errorf("after %d attempts, the log has %v", times, f.logs.All())
	}
	// A block that does not match its checksum shows in the region's status.
	content[len(content)/2] ^= 1 // in the coverage or in the description
	if err := os.WriteFile(f.path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(0); err == nil || f.status().Status != Damaged {
		t.Errorf("a flipped bit: %v, %+v", err, f.status())
	}
}
