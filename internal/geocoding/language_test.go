package geocoding

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
)

func TestParseLanguages(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		"de":                              {"de"},
		" de-AT , de;q=0.9, en ; q = 0.5": {"de-AT", "de", "en"},
		"en;q=0.5,fr":                     {"fr", "en"},
		"en;q=0.5,fr;q=0.5,zh-Hant":       {"zh-Hant", "en", "fr"},
		"fr, *;q=0.5, en;q=0.1":           {"fr"},
		"*":                               nil,
		"fr;q=0, de":                      {"de"},
		",,de,":                           {"de"},
	} {
		got, err := ParseLanguages(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, bad := range []string{"d", "de_AT", "de-", "-de", "1e", "de;q=2", "de;q=-1", "de;q=x", "de;q=NaN", "de;x=1", ";q=1", "german-deutschland-x1234567890",
		strings.Repeat("de,", 20), strings.Repeat("x", 600), "de\x00"} {
		if got, err := ParseLanguages(bad); err == nil {
			t.Errorf("%q was read as %q", bad, got)
		}
	}
}

func FuzzParseLanguages(f *testing.F) {
	for _, text := range []string{"de-AT, de;q=0.9", "*;q=0", "x;q="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		languages, err := ParseLanguages(text)
		if err != nil && languages != nil || len(languages) > maxLanguages {
			t.Errorf("%q, %v", languages, err)
		}
		for _, tag := range languages {
			for n := 0; tag != ""; n++ {
				if n > 300 {
					t.Fatalf("%q does not end", tag)
				}
				tag = shorter(tag)
			}
		}
	})
}

func TestNamesInOtherLanguages(t *testing.T) {
	var w world
	w.multi(1, "ISO3166-1=BE, admin_level=2, boundary=administrative, name=Belgique / België, name:de=Belgien, name:en=Belgium", orb.Polygon{square(0, 0, 100)})
	w.multi(2, "admin_level=4, boundary=administrative, name=Bruxelles - Brussel, name:fr=Bruxelles, name:nl=Brussel", orb.Polygon{square(0, 0, 90)})
	w.multi(3, "admin_level=8, boundary=administrative, name=Ixelles, name:nl=Elsene, name:zh-Hant=伊克塞爾", orb.Polygon{square(0, 0, 80)})
	w.node(4, at(0, 0), "amenity=cafe, name=Le Coin, name:nl=De Hoek, name:nl-BE=Den Hoek")
	x := w.build(t)
	for _, c := range []struct{ languages, want string }{
		{"", "Le Coin, Ixelles, Bruxelles - Brussel, Belgique / België"},
		{"nl", "De Hoek, Elsene, Brussel, Belgique / België"},
		{"nl-be", "Den Hoek, Elsene, Brussel, Belgique / België"},
		{"nl-NL", "De Hoek, Elsene, Brussel, Belgique / België"},
		{"fr, nl", "De Hoek, Elsene, Bruxelles, Belgique / België"},
		{"zh-Hant-TW, de", "Le Coin, 伊克塞爾, Bruxelles - Brussel, Belgien"},
		{"en", "Le Coin, Ixelles, Bruxelles - Brussel, Belgium"},
		{"ja", "Le Coin, Ixelles, Bruxelles - Brussel, Belgique / België"},
	} {
		languages, err := ParseLanguages(c.languages)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Reverse(t.Context(), &Request{Point: at(0, 0), Size: 1, Languages: languages})
		if err != nil || len(r.Places) != 1 || r.Places[0].DisplayName != c.want {
			t.Errorf("%q: %+v, %v, want %q", c.languages, r, err, c.want)
		}
	}
}
