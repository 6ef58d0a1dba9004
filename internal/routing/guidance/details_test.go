package guidance_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestLanes: the lanes at the only junction, each as its arrows, with * where the route may use it.
func TestLanes(t *testing.T) {
	motorway := "wm highway=motorway oneway=yes name=M LANES\nml highway=motorway oneway=yes name=M\n" +
		"mr highway=motorway_link oneway=yes name="
	against := strings.Replace(crossing, "wm", "mw", 1)
	tests := map[string]struct {
		grid, ways, ends, lanes, want string
		mode                          guidance.Mode
	}{
		"two ways":       {cross, crossing, "wn", "turn:lanes:forward=left|through;right", "left* straight,right", ""},
		"the other way":  {cross, crossing, "wn", "turn:lanes:backward=left|right", "", ""},
		"drawn against":  {cross, against, "wn", "turn:lanes:backward=left|through", "left* straight", ""},
		"both ways":      {cross, crossing, "wn", "turn:lanes=left|right", "", ""},
		"a one-way":      {cross, crossing, "ws", oneWay + "left|through|right", "left straight right*", ""},
		"without arrows": {cross, crossing, "wn", oneWay + "left||none|right", "left* none none right", ""},
		"many for one":   {cross, crossing, "wn", oneWay + "left|left;through|right", "left* left,straight* right", ""},
		"merging":        {cross, crossing, "wn", oneWay + "left|merge_to_left", "left* none", ""},
		"only one arrow": {cross, crossing,
			"wn", oneWay + "slight_left|through|right", "slight left* straight right", ""},
		"an exit": {narrow, motorway,
			"wr", "turn:lanes=through|through|slight_right", "straight straight slight right*", ""},
		"arrows at a fork": {narrow, motorway, "wl",
			"turn:lanes=slight_left|slight_right", "slight left* slight right", ""},
		"on a bicycle": {cross, crossing, "wn", oneWay + "left|right", "", guidance.Cycling},
		"U-turns are no way": {cross, crossing,
			"wn", oneWay + "reverse;left|through|right", "uturn,left* straight right", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ways := strings.Replace(test.ways, "LANES", test.lanes, 1)
			steps := describe(t, roadgraphtest.Sketch{Grid: test.grid, Ways: ways, Step: 20}, test.ends,
				guidance.Options{Mode: test.mode})
			var lanes []string
			x := steps[0].Intersections[1:]
			if len(x) == 0 {
				x = steps[1].Intersections
			}
			for _, l := range x[0].Lanes {
				text := strings.Join(l.Indications, ",")
				if l.Valid {
					text += "*"
				}
				lanes = append(lanes, text)
			}
			if got := strings.Join(lanes, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

const oneWay = "oneway=yes turn:lanes="

const crossing = "wm name=A LANES\nme name=A\nmn name=B\nms name=B\n"

// TestSentences: what travellers are told, in all languages.
func TestSentences(t *testing.T) {
	const (
		exit = "wm highway=motorway name=M ref=A~1\nml highway=motorway name=M ref=A~1\nmr highway=motorway_link name= " +
			"junction:ref=12 destination=Hamburg;Bremen;Kiel destination:ref=A~7;B~4"
		fork = "wm name=A\nml name=B destination=Hamburg\nmr name=C"
		ring = "abcda junction=roundabout oneway=yes name="
		arms = "\nna\nwb\nsc\ned"
	)
	tests := map[string]struct {
		grid, ways, ends string
		step             float64
		options          guidance.Options
		want             map[string]string // of the second step, by language
	}{
		"turn": {cross, crossing, "wn", 50, guidance.Options{}, map[string]string{
			"en": "Turn left onto B", "de": "Biegen Sie links auf B ab", "es": "Gira a la izquierda en B",
			"fr": "Tournez à gauche sur B", "pt-BR": "Vire à esquerda em B", "xx": "Turn left onto B",
			"EN_us": "Turn left onto B", "": "Turn left onto B"}},
		"exit": {narrow, exit, "wr", 20, guidance.Options{}, map[string]string{
			"en": "Take exit 12 on the right onto A 7, B 4 towards Hamburg, Bremen",
			"de": "Nehmen Sie die Ausfahrt 12 rechts auf A 7, B 4 Richtung Hamburg, Bremen",
			"es": "Toma la salida 12 a la derecha hacia A 7, B 4 en dirección a Hamburg, Bremen",
			"fr": "Prenez la sortie 12 à droite vers A 7, B 4 en direction de Hamburg, Bremen",
			"pt": "Pegue a saída 12 à direita para A 7, B 4 em direção a Hamburg, Bremen"}},
		"fork": {wye, fork, "wl", 50, guidance.Options{}, map[string]string{
			"en": "Keep left at the fork onto B towards Hamburg",
			"de": "Halten Sie sich an der Gabelung links auf B Richtung Hamburg"}},
		"roundabout": {circle, ring + arms, "we", 20, guidance.Options{}, map[string]string{
			"en": "At the roundabout, take the 2nd exit onto ed",
			"de": "Nehmen Sie im Kreisverkehr die 2. Ausfahrt auf ed",
			"es": "En la rotonda, toma la 2.ª salida por ed", "fr": "Au rond-point, prenez la 2e sortie sur ed",
			"pt": "Na rotatória, pegue a 2ª saída para ed"}},
		"rotary": {circle, ring + "Place" + arms, "we", 20, guidance.Options{}, map[string]string{
			"en": "At Place, take the 2nd exit onto ed"}},
		"roundabout turn": {circle, ring + arms, "we", 10, guidance.Options{}, map[string]string{
			"en": "At the roundabout, go straight onto ed"}},
		"into a roundabout": {circle, ring + arms, "wc", 20, guidance.Options{}, map[string]string{
			"en": "Enter the roundabout"}},
		"ferry": {"a.b.c.d", "ab\nbc route=ferry name=Star\ncd", "ad", 50, guidance.Options{}, map[string]string{
			"en": "Take the ferry Star", "fr": "Prenez le ferry Star"}},
		"train": {"a.b.c.d", "ab\nbc route=shuttle_train tunnel=yes name=", "ac", 50, guidance.Options{}, map[string]string{
			"en": "Take the train"}},
		"back": {"f.....e.....d\n\na.....b.....c", "abc oneway=yes name=A\ndef oneway=yes name=A\nbe name=", "af", 10,
			guidance.Options{}, map[string]string{"en": "Make a U-turn to continue on A", "de": "Wenden Sie auf A",
				"es": "Haz un cambio de sentido en A", "fr": "Faites demi-tour sur A", "pt": "Faça um retorno em A"}},
		"stop": {"a.b", "ab", "ab", 50, guidance.Options{}, map[string]string{
			"en": "You have arrived at your stop", "de": "Sie haben Ihr Zwischenziel erreicht"}},
		"destination": {"a.b", "ab", "ab", 50, guidance.Options{Final: true}, map[string]string{
			"en": "You have arrived at your destination", "es": "Has llegado a tu destino"}},
		"on the right": {"a.b", "ab", "ab", 50, guidance.Options{Final: true, Destination: roadgraphtest.At(90, -100)},
			map[string]string{"en": "You have arrived at your destination, on the right",
				"fr": "Vous êtes arrivé à destination, sur la droite"}},
		"on the left": {"a.b", "ab", "ab", 50, guidance.Options{Final: true, Destination: roadgraphtest.At(90, 50)},
			map[string]string{"en": "You have arrived at your destination, on the left"}},
	}
	for name, test := range tests {
		for language, want := range test.want {
			t.Run(name+" "+language, func(t *testing.T) {
				t.Parallel()
				test.options.Language = language
				steps := describe(t, roadgraphtest.Sketch{Grid: test.grid, Ways: strings.Replace(test.ways, " LANES", "", 1),
					Step: test.step}, test.ends, test.options)
				if diff := cmp.Diff(want, steps[1].Instruction); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestLanguages: each language has all sentences of the first one, with the same values, and all words.
func TestLanguages(t *testing.T) {
	text, err := os.ReadFile("sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	values := regexp.MustCompile(`{(way|to|exit|rotary|nth|turn|dir)}`)
	english := map[string]string{}
	for i, part := range strings.Split(string(text), "\nlanguage ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		own := map[string]string{}
		for line := range strings.Lines(rest) {
			key, sentence, _ := strings.Cut(strings.TrimSpace(line), " = ")
			own[key] = sentence
		}
		if i == 0 {
			english = own
		}
		for key, sentence := range english {
			want, got := values.FindAllString(sentence, -1), values.FindAllString(own[key], -1)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) || strings.Count(sentence, "|") != strings.Count(own[key], "|") ||
				own[key] == "" && sentence != "" {
				t.Errorf("%s: %s = %q, in English %q", name, key, own[key], sentence)
			}
		}
	}
}

// TestSigns: texts of signposts and classes are members of steps and intersections, not only of sentences.
func TestSigns(t *testing.T) {
	steps := describe(t, roadgraphtest.Sketch{Grid: narrow, Step: 20, Ways: `
		wm highway=motorway name=M ref=A~1;E~45 toll=yes
		ml highway=motorway name=M ref=A~1;E~45 toll=yes tunnel=yes
		rm highway=motorway_link name= junction:ref=12;13 destination:backward=Hamburg;Bremen destination:ref:backward=A~7
	`}, "wr", guidance.Options{})
	s := steps[1]
	got := fmt.Sprintf("%s | %s | %s | %s | %v", steps[0].Ref, s.Exits, s.Destinations, s.Mode,
		steps[0].Intersections[0].Classes)
	if diff := cmp.Diff("A 1; E 45 | 12; 13 | A 7: Hamburg, Bremen | driving | [toll motorway]", got); diff != "" {
		t.Error(diff)
	}
}

// TestIntersections: all roads of a junction that a step passes, also those that are closed.
func TestIntersections(t *testing.T) {
	steps := describe(t, roadgraphtest.Sketch{Grid: cross, Step: 50, Ways: `
		wme name=A
		nm oneway=yes
		ms oneway=yes
	`}, "we", guidance.Options{})
	x := steps[0].Intersections[1]
	got := fmt.Sprintf("%d steps: %v %v %d %d", len(steps), x.Bearings, x.Entry, x.In, x.Out)
	if diff := cmp.Diff("2 steps: [0 90 180 270] [false true true true] 3 1", got); diff != "" {
		t.Error(diff)
	}
}

// TestSummary: the roads that take most of the time, in the order of travel.
func TestSummary(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 100, Grid: "a...b.......c\n............d..e......f", Ways: `
		ab name=A
		bc name=B
		cd name=C
		de name=D
		ef highway=motorway name=F ref=M1
	`}.Draw(t)
	states, first, last := shortest(t, d.Graph, placesAt(d.Graph, d.At(t, 'a')), placesAt(d.Graph, d.At(t, 'f')))
	if got := guidance.Summary(d.Graph, pathOf(d.Graph, states, first, last)); got != "A, B, M1" {
		t.Error(got)
	}
}
