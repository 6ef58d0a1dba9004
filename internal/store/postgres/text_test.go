package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTextForms(t *testing.T) {
	for kept, form := range map[string]string{
		"":            "",
		"sa_01ABC":    "sa_01ABC",
		"Zürich 北京":   "Zürich 北京",
		"a\x00b":      `a\x00b`,
		"\xff\xfe":    `\xff\xfe`,
		`C:\x00`:      `C:\\x00`,
		"\xe2\x82":    `\xe2\x82`,
		"\uFFFD kept": "\uFFFD kept",
	} {
		if got := toText(kept); got != form {
			t.Errorf("toText(%q) = %q, want %q", kept, got, form)
		}
	}
	// Forms that no version wrote are read without a fault.
	for _, form := range []string{`\`, `\x`, `\x0`, `\xzz`, `a\b`} {
		if got := fromText(form); got != form {
			t.Errorf("fromText(%q) = %q", form, got)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "plain", `\`, `\\x00`, "\x00", "\xff\\", "ü\xc3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) { checkText(t, s) })
}

func TestTextComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkText(rt, string(rapid.SliceOf(rapid.SampledFrom([]byte("\\x0a\x00\xff\xc3\xbc"))).Draw(rt, "bytes")))
	})
}

func checkText(t interface{ Errorf(string, ...any) }, s string) {
	form := toText(s)
	if !utf8.ValidString(form) || strings.Contains(form, "\x00") {
		t.Errorf("toText(%q) = %q cannot be kept as text", s, form)
	}
	if back := fromText(form); back != s {
		t.Errorf("%q came back as %q", s, back)
	}
}
