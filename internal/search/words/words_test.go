package words

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func texts(text string) string {
	var list []string
	for _, token := range Append(nil, text) {
		list = append(list, token.Text)
	}
	return strings.Join(list, " ")
}

func TestAppend(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{" , ;- ", ""},
		{"North Main Street", "north main street"},
		{"already normalized", "already normalized"},
		// Letters.
		{"São João", "sao joao"},
		{"Sa\u0303o Joa\u0303o", "sao joao"},
		{"KÖNIGSTRASSE Königstraße", "konigstrasse konigstrasse"},
		{"Ærø Ålborg Łódź Đà Ístanbul ılıca İzmir œuvre Þingvellir", "aero alborg lodz da istanbul ilica izmir oeuvre thingvellir"},
		{"Ｆｕｌｌ ﬁne №5 Ⅳ", "full fine no5 iv"},
		{"Θεσσαλονίκης ΣΊΓΜΑΣ", "θεσσαλονικησ σιγμασ"},
		{"Ёлкин Йод", "елкин иод"},
		{"soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"},
		// Apostrophes and dots.
		{"O'Neil O’Neil OʼNeil O`Neil O´Neil", "oneil oneil oneil oneil oneil"},
		{"Côte d'Or rock 'n' roll 'quoted' o'", "cote dor rock n roll quoted o"},
		{"U.S. N.W. J.R.R. Tolkien", "us nw jrr tolkien"},
		{"N.W 12 a.b.c", "nw 12 abc"},
		{"St. Louis St.Louis S.Main A.B.Smith d.O'Neil", "st louis st louis s main ab smith d oneil"},
		{"É.U.", "eu"},
		// Numbers.
		{"12A 12a 12 a 12/A 12-a", "12a 12a 12 a 12a 12a"},
		{"12-14 12–14 12a-14b 12/3 12/a/3 12345-678 19901", "12-14 12-14 12a-14b 12/3 12a/3 12345-678 19901"},
		{"12 - 14, 1st-2nd 12-1st 5-Sterne 1-2-3", "12 14 1st 2nd 12 1st 5 sterne 1-2-3"},
		{"12' 12'a 12-14' 12-1'a", "12 12a 12 14 12 1a"},
		{"A7 sr1 I-95 B/7", "a7 sr1 i 95 b 7"},
		{"12½ 12²", "12 1/2 122"},
		{"١٢ شارع", "12 شارع"},
		{"१२", "12"},
		// Separators.
		{"Main St/Oak-Ave (old) [x] a_b #7", "main st oak ave old x a b 7"},
		{"H&M", "h and m"},
		{"Baden-Württemberg", "baden wurttemberg"},
		{"street,city", "street city"},
		{"☕ café \xff bad", "cafe bad"},
		// Scripts.
		{"東京都 5丁目", "東 京 都 5 丁 目"},
		{"ラーメン がく", "ラ ー メ ン か く"},
		{"ถนนที่", "ถ น น ที่"},
		{"أحمد مدرسة مَدْرَسَة كـــتاب علي على", "احمد مدرسه مدرسه كتاب علي علي"},
		{"हिन्दी", "हिन्दी"},
		{"אַבְרָהָם צה״ל", "אברהם צהל"},
		{"አዲስ አበባ", "አዲስ አበባ"},
	} {
		if got := texts(test.text); got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
	if got := []rune(texts("서울")); len(got) != 5 {
		t.Errorf("서울 has %d letters, want its 5 jamo", len(got))
	}
}

func TestTokens(t *testing.T) {
	for _, test := range []struct {
		text string
		want []Token
	}{
		{"12-B Main St.,\nDover", []Token{
			{Text: "12b", From: 0, To: 4, Number: true},
			{Text: "main", From: 5, To: 9},
			{Text: "st", From: 10, To: 12},
			{Text: "dover", From: 15, To: 20, Breaks: true},
		}},
		{", U.S. & é\u0301x; 1st", []Token{
			{Text: "us", From: 2, To: 5},
			{Text: "and", From: 7, To: 8},
			{Text: "ex", From: 9, To: 14},
			{Text: "1st", From: 16, To: 19, Number: true, Breaks: true},
		}},
		{"a7 ⑴、東", []Token{
			{Text: "a7", From: 0, To: 2},
			{Text: "1", From: 3, To: 6, Number: true},
			{Text: "東", From: 9, To: 12, Breaks: true},
		}},
	} {
		if diff := cmp.Diff(test.want, Append(nil, test.text)); diff != "" {
			t.Errorf("%q: %s", test.text, diff)
		}
	}
	tokens := Append(Append(nil, "a"), ", b")
	if len(tokens) != 2 || tokens[1].Breaks {
		t.Errorf("got %v, want the first token of the second text without a break", tokens)
	}
}

// check reports what is wrong with the tokens of a text.
func check(t interface{ Errorf(string, ...any) }, text string) {
	from := 0
	for _, token := range Append(nil, text) {
		if token.From < from || token.From >= token.To || token.To > len(text) {
			t.Errorf("%q: %+v is empty, out of order or out of range", text, token)
		}
		from = token.From
		if token.Number != isDigit(token.Text[0]) || !utf8.ValidString(token.Text) {
			t.Errorf("%q: %+v", text, token)
		}
		again := Append(nil, token.Text)
		want := []Token{{Text: token.Text, To: len(token.Text), Number: token.Number}}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("%q: %q again: %s", text, token.Text, diff)
		}
	}
}

func TestAppendProperties(t *testing.T) {
	special := rapid.SliceOf(rapid.SampledFrom([]rune("aB1 23.-/'’,&éß東ที่ी½⑴٣\u0301ʼÅ\n")))
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.String().Draw(t, "text"))
		check(t, string(special.Draw(t, "special")))
		check(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
	})
}

// TestEveryRune normalizes each rune of Unicode within a word.
func TestEveryRune(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		once, _ := fold(string(r), nil)
		if once == string(r) {
			continue
		}
		if again, _ := fold(once, nil); again != once {
			t.Errorf("%U is %q, then %q", r, once, again)
		}
		check(t, "a"+string(r)+"1")
	}
}

func FuzzAppend(f *testing.F) {
	f.Add("12-B Main St., Dover")
	f.Add("½ d’Or U.S. 東京 ที่")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<10 {
			check(t, text)
		}
		for _, token := range Append(nil, text) {
			Variants(token.Text)
			Latin(token.Text)
			HouseNumber(token.Text)
		}
	})
}

func TestHouseNumber(t *testing.T) {
	for _, test := range []struct {
		token, rest string
		number      int
		ok          bool
	}{
		{"12", "", 12, true},
		{"12a", "a", 12, true},
		{"12а", "а", 12, true}, // Cyrillic
		{"12-14", "-14", 12, true},
		{"12/3", "/3", 12, true},
		{"12a-14b", "a-14b", 12, true},
		{"12bis", "bis", 12, true},
		{"12ter/3", "ter/3", 12, true},
		{"12quater", "quater", 12, true},
		{"123456", "", 123456, true},
		{"007", "", 7, true},
		{"12345-678", "-678", 12345, true},
		{"1234567", "", 0, false},
		{"1st", "", 0, false},
		{"22nd", "", 0, false},
		{"12abc", "", 0, false},
		{"12-", "", 0, false},
		{"12-1st", "", 0, false},
		{"a12", "", 0, false},
		{"", "", 0, false},
	} {
		number, rest, ok := HouseNumber(test.token)
		if number != test.number || rest != test.rest || ok != test.ok {
			t.Errorf("%q: got %d, %q, %v", test.token, number, rest, ok)
		}
	}
}

func TestAllocations(t *testing.T) {
	tokens := make([]Token, 0, 16)
	for text, want := range map[string]float64{
		"north main street": 0,
		"North Main Street": 1,
		"Rua de São João":   1,
		"Невский проспект":  1,
	} {
		if got := testing.AllocsPerRun(100, func() { tokens = Append(tokens[:0], text) }); got > want {
			t.Errorf("%s: %v allocations, want %v", text, got, want)
		}
	}
	if got := testing.AllocsPerRun(100, func() { Variants("street"); Filler("the"); Variants("main") }); got > 0 {
		t.Errorf("%v allocations for variants", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, text := range []string{"North Main Street", "north main street", "Rua de São João", "Невский проспект", "東京都千代田区"} {
		b.Run(text, func(b *testing.B) {
			var tokens []Token
			b.ReportAllocs()
			for b.Loop() {
				tokens = Append(tokens[:0], text)
			}
		})
	}
}

func BenchmarkVariants(b *testing.B) {
	for _, token := range []string{"street", "main", "hauptstr", "koenig"} {
		b.Run(token, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Variants(token)
			}
		})
	}
}
