package compiler

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"": DefaultMemory(), "1GiB": 1 << 30, "1 GiB": 1 << 30, "800MB": 800_000_000, "1073741824": 1 << 30, "256MiB": LeastMemory,
	} {
		if got, err := ParseMemory(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	if n := DefaultMemory(); n < usual {
		t.Errorf("by default %d bytes", n)
	}
	for text, want := range map[string]string{
		"much": "not a size", "-1": "not a size", "1QB": "not a size", "1MiB": "256 MiB", "0": "256 MiB", "99999999TB": "size",
	} {
		if got, err := ParseMemory(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	undo := LimitMemory(1 << 30)
	if now := debug.SetMemoryLimit(-1); now >= 1<<30 || now < 1<<29 {
		t.Errorf("the limit is %d bytes", now)
	}
	undo()
	if now := debug.SetMemoryLimit(-1); now != before {
		t.Errorf("the limit is %d bytes and was %d", now, before)
	}
}

// TestUsedMemory: memory that was allocated is counted.
func TestUsedMemory(t *testing.T) {
	before := UsedMemory()
	block := make([]byte, 64<<20)
	for i := range block {
		block[i] = 1
	}
	if after := UsedMemory(); before <= 0 || after < before+32<<20 || block[5] != 1 {
		t.Errorf("%d bytes, and %d with 64 MiB more", before, after)
	}
}
