package places

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/placestest"
)

func TestInterpolate(t *testing.T) {
	for name, c := range map[string]struct {
		line    orb.LineString
		numbers []int32
		step    int32
		parity  extract.Parity
		want    map[int32]float64 // thousandths of a degree east
	}{
		"down":        {placestest.Line(0, 0, 3, 0), []int32{7, 1}, 2, 0, map[int32]float64{5: 1, 3: 2}},
		"three nodes": {placestest.Line(0, 0, 2, 0, 6, 0), []int32{2, 4, 8}, 1, 0, map[int32]float64{3: 1, 5: 3, 6: 4, 7: 5}},
		"around": {placestest.Line(0, 0, 1, 0, 0, 0), []int32{1, extract.NoNumber, 5}, 1, 0,
			map[int32]float64{2: 0.5, 3: 1, 4: 0.5}},
		"neighbours":    {placestest.Line(0, 0, 1, 0), []int32{2, 4}, 2, 0, nil},
		"the same":      {placestest.Line(0, 0, 1, 0), []int32{2, 2}, 2, 0, nil},
		"uneven":        {placestest.Line(0, 0, 3, 0), []int32{1, 4}, 2, 0, map[int32]float64{3: 2}},
		"no length":     {placestest.Line(1, 0, 1, 0), []int32{1, 3}, 1, 0, map[int32]float64{2: 1}},
		"far too many":  {placestest.Line(0, 0, 1, 0), []int32{1, 90000}, 1, 0, nil},
		"one number":    {placestest.Line(0, 0, 1, 0), []int32{1, extract.NoNumber}, 1, 0, nil},
		"fewer numbers": {placestest.Line(0, 0, 1, 0), []int32{1}, 1, 0, nil},
		"from 0":        {placestest.Line(0, 0, 4, 0), []int32{0, 8}, 2, extract.Even, map[int32]float64{2: 1, 4: 2, 6: 3}},
		"to 0":          {placestest.Line(0, 0, 4, 0), []int32{4, 0}, 1, 0, map[int32]float64{3: 1, 2: 2, 1: 3}},
		"odd from even": {placestest.Line(0, 0, 6, 0), []int32{2, 8}, 2, extract.Odd, map[int32]float64{3: 1, 5: 3, 7: 5}},
		"even down":     {placestest.Line(0, 0, 6, 0), []int32{7, 1}, 2, extract.Even, map[int32]float64{6: 1, 4: 3, 2: 5}},
		"even to odd":   {placestest.Line(0, 0, 5, 0), []int32{1, 6}, 2, extract.Even, map[int32]float64{2: 1, 4: 3}},
		"no step":       {placestest.Line(0, 0, 2, 0), []int32{1, 3}, 0, 0, map[int32]float64{2: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[int32]float64{}
			for h := range interpolate(&extract.Interpolation{Line: c.line, Numbers: c.numbers, Step: c.step,
				Parity: c.parity}) {
				got[h.number] = (h.at[0] - placestest.Kansas[0]) * 1000
			}
			if c.want == nil {
				c.want = map[int32]float64{}
			}
			if diff := cmp.Diff(c.want, got, placestest.Approximate); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	w := new(placestest.World)
	w.Node(1, placestest.Kansas, "name=x, name:=y, name:de=Deutsch, name:etymology:wikidata=Q1, name:prefix=Dorf, "+
		"name:sr-Latn=Srpski, name:zh-Hant-TW=繁體, old_name:de=Alt")
	d := w.Data(t)
	texts, err := newTextTable(placestest.Scratch(t), d.Texts)
	if err != nil {
		t.Fatal(err)
	}
	l := newLexicon(texts)
	var got []string
	for _, r := range d.Features.Records {
		l.read(r.Tags)
		for _, n := range l.names {
			got = append(got, texts.text(n.key)+" "+texts.text(n.value))
		}
	}
	if diff := cmp.Diff([]string{"de Deutsch", "sr-Latn Srpski", "zh-Hant-TW 繁體"}, got); diff != "" {
		t.Error(diff)
	}
}
