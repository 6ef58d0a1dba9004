package objects

import "testing"

func TestParseHouseNumber(t *testing.T) {
	for value, want := range map[string]int32{
		"12": 12, "12a": 12, "12-14": 12, "1;3": 1, "0": 0, "0a": 0, "": NoNumber, "A1": NoNumber, "99999": 99999,
		"100000": NoNumber, "99999999999999999999": NoNumber, "-5": NoNumber,
	} {
		if got := parseHouseNumber(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

func FuzzHouseNumbers(f *testing.F) {
	for _, seed := range []string{"12", "12a", "odd", "even", "all", "alphabetic", "4", "-1", "99999999999", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if n := parseHouseNumber(value); n < NoNumber || n > maxHouseNumber {
			t.Errorf("house number %q: %d", value, n)
		}
		if step, _, ok := parseInterpolation(value); ok != (step > 0) || step > maxStep {
			t.Errorf("interpolation %q: %d, %v", value, step, ok)
		}
	})
}
