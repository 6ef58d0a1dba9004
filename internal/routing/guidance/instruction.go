package guidance

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// language has the sentences of a language, by key; see sentences.txt.
type language struct {
	sentences map[string]string
	lists     map[string][]string // the words that sentences choose from
}

// values are what a sentence may tell.
type values struct {
	language              *language
	way, to, exit, ring   string
	turn                  direction
	compass, nth, walking int // indexes into the lists
}

// instruct returns the sentence of a step.
func (d *describer) instruct(s *Step, j *junction, way string) string {
	l := languageOf(d.Language)
	v := values{language: l, way: way, exit: s.Exits, ring: s.RotaryName, nth: j.exit - 1, turn: j.modifier,
		compass: (s.Maneuver.BearingAfter*2 + 45) / 90 % 8}
	if d.Mode == Walking {
		v.walking = 1
	}
	kind := s.Maneuver.Type
	refs, places, found := strings.Cut(s.Destinations, ": ")
	if !found {
		places = refs
	} else if kind == onRamp || kind == offRamp {
		v.way = refs
	}
	v.to = firstTwo(places)
	switch {
	case s.Mode == OnFerry && kind != arrive:
		kind = "ferry"
	case s.Mode == OnTrain && kind != arrive:
		kind = "train"
	case kind == arrive:
		if !d.Final {
			kind = "waypoint"
		}
	case kind == offRamp && v.exit != "":
		kind = "exit"
	case (kind == roundabout || kind == rotary) && j.exit == 0, kind == rotary && v.ring == "":
		if kind = roundabout; j.exit == 0 {
			kind = "enter"
		}
	case kind == exitRotary:
		kind = exitRoundabout
	case kind == notification:
		kind = newName
	}
	sentence, ok := l.sentences[kind+" "+s.Maneuver.Modifier]
	if !ok {
		sentence = l.sentences[kind]
	}
	d.sentence = v.append(d.sentence[:0], sentence)
	return string(d.sentence)
}

// Sentence returns the sentence of a step that another engine has found. final says that the route ends with its leg.
func Sentence(s *Step, language string, final bool) string {
	d := describer{Options: Options{Mode: s.Mode, Language: language, Final: final}}
	turn := direction(max(slices.Index(directions[:], s.Maneuver.Modifier), 0))
	j := junction{maneuver: maneuver{exit: s.Maneuver.Exit, modifier: turn}}
	return d.instruct(s, &j, cmp.Or(s.Name, s.Ref))
}

// firstTwo returns the first two names of a list: signposts have room for more, sentences do not.
func firstTwo(list string) string {
	if i := strings.Index(list, ", "); i >= 0 {
		if k := strings.Index(list[i+2:], ", "); k >= 0 {
			return list[:i+2+k]
		}
	}
	return list
}

// append appends a sentence. Parts in brackets are left out if what they tell is empty.
func (v *values) append(dst []byte, sentence string) []byte {
	optional, empty := -1, false
	for len(sentence) > 0 {
		switch sentence[0] {
		case '[':
			optional, empty = len(dst), false
		case ']':
			if empty {
				dst = dst[:optional]
			}
		case '{':
			end := strings.IndexByte(sentence, '}')
			value := v.value(sentence[1:end])
			empty = empty || value == ""
			dst = append(dst, value...)
			sentence = sentence[end:]
		default:
			dst = append(dst, sentence[0])
		}
		sentence = sentence[1:]
	}
	return dst
}

// value returns a value by its name in sentences.
func (v *values) value(name string) string {
	l := v.language
	switch name {
	case "way":
		return v.way
	case "to":
		return v.to
	case "exit":
		return v.exit
	case "rotary":
		return v.ring
	case "dir":
		return l.lists["compass"][v.compass]
	case "go":
		return l.lists["verbs"][v.walking]
	case "nth":
		ordinals := l.lists["ordinals"]
		if v.nth < len(ordinals)-1 {
			return ordinals[max(v.nth, 0)]
		}
		return strconv.Itoa(v.nth+1) + ordinals[len(ordinals)-1]
	case "side":
		switch turn := v.turn; {
		case turn == noDirection || turn == straightOn || turn == uTurn:
			return ""
		case turn < straightOn:
			return l.lists["turns"][left-1]
		}
		return l.lists["turns"][right-1]
	case "turn":
		if v.turn != noDirection {
			return l.lists["turns"][v.turn-1]
		}
	}
	return ""
}

// languageOf returns the language of a tag such as "pt-BR".
func languageOf(tag string) *language {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	base, _, _ = strings.Cut(base, "_")
	if l := languages[base]; l != nil {
		return l
	}
	return languages["en"]
}

//go:embed sentences.txt
var sentences string

var languages = parse(sentences)

// parse reads the sentences of all languages: after the name of a language, a key and a sentence a line.
func parse(text string) map[string]*language {
	all := map[string]*language{}
	var l *language
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "language "); ok {
			l = &language{sentences: map[string]string{}, lists: map[string][]string{}}
			all[name] = l
		} else if key, sentence, ok := strings.Cut(line, " = "); ok && l != nil {
			l.sentences[key] = sentence
			l.lists[key] = strings.Split(sentence, "|")
		}
	}
	return all
}
