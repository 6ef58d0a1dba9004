package text

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Numbers of every form that JSON has are read as strconv reads them, to the last bit.
func TestScanNumberIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")
		got, n := ScanNumber([]byte(text+","), false)
		want, _ := strconv.ParseFloat(text, 64)
		if n != len(text) || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %v of %d bytes, want %v", text, got, n, want)
		}
	})
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "-0": 0, "+5": 5, "1e3": 1000, "1E-2": 0.01, "39.0000000000000000000001": 39} {
		if got, ok := ParseNumber([]byte(text)); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "+", "-", "++1", "01", "-01", ".5", "5.", "1e", "1e+", "0x10", "1_000", "NaN", "Inf", "-Infinity",
		" 1", "1 ", "1,5", "1e400", "१"} {
		if got, ok := ParseNumber([]byte(text)); ok {
			t.Errorf("%q was taken for %v", text, got)
		}
	}
	if _, n := ScanNumber([]byte("+1"), false); n != 0 {
		t.Error("a leading + was taken where it is not allowed")
	}
}

func TestAppendFixed(t *testing.T) {
	for _, tc := range []struct {
		value          float64
		decimals       int
		fixed, rounded string
	}{
		{0, 6, "0.000000", "0"},
		{math.Copysign(0, -1), 6, "0.000000", "0"},
		{-0.0000001, 6, "0.000000", "0"},
		{-75.5197, 7, "-75.5197000", "-75.5197"},
		{-0.25, 1, "-0.3", "-0.3"},
		{39.9999999, 6, "40.000000", "40"},
		{180, 7, "180.0000000", "180"},
		{1200, 0, "1200", "1200"},
		{1e300, 1, strconv.FormatFloat(1e300, 'f', 1, 64), strconv.FormatFloat(1e300, 'f', 0, 64)},
	} {
		if got := string(AppendFixed(nil, tc.value, tc.decimals)); got != tc.fixed {
			t.Errorf("AppendFixed(%v, %d) = %s, want %s", tc.value, tc.decimals, got, tc.fixed)
		}
		if got := string(AppendRounded(nil, tc.value, tc.decimals)); got != tc.rounded {
			t.Errorf("AppendRounded(%v, %d) = %s, want %s", tc.value, tc.decimals, got, tc.rounded)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-1e6, 1e6).Draw(t, "value")
		decimals := rapid.IntRange(0, 9).Draw(t, "decimals")
		for _, text := range [][]byte{AppendFixed(nil, value, decimals), AppendRounded(nil, value, decimals)} {
			got, ok := ParseNumber(text)
			inexact := 2 * (math.Nextafter(math.Abs(value)+1, math.Inf(1)) - math.Abs(value) - 1) // of the parsed text, and of the difference
			if !ok || math.Abs(got-value) > 0.5/math.Pow10(decimals)+inexact || !json.Valid(text) {
				t.Fatalf("%v with %d decimals became %s", value, decimals, text)
			}
		}
	})
}
