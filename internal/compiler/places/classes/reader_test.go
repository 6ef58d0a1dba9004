package classes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func TestLanguages(t *testing.T) {
	w := new(placestest.World)
	w.Node(1, placestest.Kansas, "name=x, name:=y, name:de=Deutsch, name:etymology:wikidata=Q1, name:prefix=Dorf, "+
		"name:sr-Latn=Srpski, name:zh-Hant-TW=繁體, old_name:de=Alt")
	d := w.Data(t)
	texts := &Texts{Texts: d.Texts}
	l := New(texts)
	var got []string
	for _, r := range d.Features.All {
		l.Classify(r)
		for _, n := range l.Names {
			got = append(got, texts.Text(n.Key)+" "+texts.Text(n.Value))
		}
	}
	if diff := cmp.Diff([]string{"de Deutsch", "sr-Latn Srpski", "zh-Hant-TW 繁體"}, got); diff != "" {
		t.Error(diff)
	}
}
