package country

import (
	"testing"
)

func TestByCode(t *testing.T) {
	for _, test := range []struct{ alpha2, alpha3, name string }{
		{"LI", "LIE", "Liechtenstein"},
		{"US", "USA", "United States"},
		{"GB", "GBR", "United Kingdom"},
		{"XK", "XKX", "Kosovo"},
		{"AX", "ALA", "Åland Islands"},
		{"ZW", "ZWE", "Zimbabwe"},
		{"AW", "ABW", "Aruba"},
	} {
		want := Country{Name: test.name, Code: test.alpha3, Alpha2: test.alpha2}
		if got, ok := ByAlpha2(test.alpha2); got != want || !ok {
			t.Errorf("ByAlpha2(%q) = %v, %v", test.alpha2, got, ok)
		}
		if got, ok := ByAlpha3(test.alpha3); got != want || !ok {
			t.Errorf("ByAlpha3(%q) = %v, %v", test.alpha3, got, ok)
		}
	}
	for _, code := range []string{"", "us", "UK", "EU", "ZZ", "USA", "LIE", "-99", "XXX"} {
		if got, ok := ByAlpha2(code); ok {
			t.Errorf("ByAlpha2(%q) = %v, want none", code, got)
		}
	}
	for _, code := range []string{"", "usa", "US", "-99", "ANT", "SCG", "KOS"} {
		if got, ok := ByAlpha3(code); ok {
			t.Errorf("ByAlpha3(%q) = %v, want none", code, got)
		}
	}
}

func TestTable(t *testing.T) {
	if len(countries) != 250 {
		t.Errorf("%d countries, want the 249 of ISO 3166-1 and Kosovo", len(countries))
	}
	alpha2, names := make(map[string]bool), make(map[string]bool)
	for i, c := range countries {
		if len(c.Code) != 3 || len(c.Alpha2) != 2 || c.Name == "" {
			t.Errorf("odd entry %v", c)
		}
		if i > 0 && countries[i-1].Code >= c.Code {
			t.Errorf("%s comes after %s", c.Code, countries[i-1].Code)
		}
		if alpha2[c.Alpha2] || names[c.Name] {
			t.Errorf("%v repeats a code or a name", c)
		}
		alpha2[c.Alpha2], names[c.Name] = true, true
	}
}
