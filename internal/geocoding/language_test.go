package geocoding_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
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
		got, err := geocoding.ParseLanguages(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, bad := range []string{"d", "de_AT", "de-", "-de", "1e", "de;q=2", "de;q=-1", "de;q=x", "de;q=NaN", "de;x=1",
		";q=1", "german-deutschland-x1234567890",
		strings.Repeat("de,", 20), strings.Repeat("x", 600), "de\x00"} {
		if got, err := geocoding.ParseLanguages(bad); err == nil {
			t.Errorf("%q was read as %q", bad, got)
		}
	}
}

func FuzzParseLanguages(f *testing.F) {
	for _, text := range []string{"de-AT, de;q=0.9", "*;q=0", "x;q="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if languages, err := geocoding.ParseLanguages(text); err != nil && languages != nil || len(languages) > 16 {
			t.Errorf("%q, %v", languages, err)
		}
	})
}

func TestNamesInOtherLanguages(t *testing.T) {
	var w placestest.World
	w.Multi(
		1,
		"ISO3166-1=BE, admin_level=2, boundary=administrative, name=Belgique / België, name:de=Belgien, name:en=Belgium",
		orb.Polygon{placestest.Square(0, 0, 100)},
	)
	w.Multi(2, "admin_level=4, boundary=administrative, name=Bruxelles - Brussel, name:fr=Bruxelles, name:nl=Brussel",
		orb.Polygon{placestest.Square(0, 0, 90)})
	w.Multi(3, "admin_level=8, boundary=administrative, name=Ixelles, name:nl=Elsene, name:zh-Hant=伊克塞爾", orb.Polygon{placestest.Square(0, 0, 80)})
	w.Node(4, placestest.At(0, 0), "amenity=cafe, name=Le Coin, name:nl=De Hoek, name:nl-BE=Den Hoek")
	x := geocodingtest.Build(t, w.Cover())
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
		languages, err := geocoding.ParseLanguages(c.languages)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Reverse(t.Context(), &geocoding.Request{Point: placestest.At(0, 0), Size: 1, Languages: languages})
		if err != nil || len(r.Places) != 1 || r.Places[0].DisplayName != c.want {
			t.Errorf("%q: %+v, %v, want %q", c.languages, r, err, c.want)
		}
	}
}
