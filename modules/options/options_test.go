package options_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// house is what the tests read: an option of each kind, and one with a block of its own.
type house struct {
	Name, Kind string
	Doors      []string
	Open       bool
	Lit        *bool
	Every      caddy.Duration
	Size       int64
	Floors     int
	Height     float64
	Path       string
	Colour     string
}

func (h *house) read(text string) error {
	d := caddyfile.NewTestDispenser(text)
	d.Next()
	check := func() error {
		switch {
		case h.Name == "":
			return errors.New("house needs a name")
		case h.Floors > 100:
			return options.Errorf("floors", "%d is too high", h.Floors)
		}
		return nil
	}
	return options.Block(d, "house", check,
		options.Option{Name: "name", Args: "<text>", Read: options.Text(&h.Name)},
		options.Option{Name: "kind", Args: "flat|hut", Read: options.Word(&h.Kind, "flat", "hut")},
		options.Option{Name: "doors", Args: "<door name>...", Read: options.Words(&h.Doors), Repeats: true},
		options.Option{Name: "open", Read: options.Flag(&h.Open)},
		options.Option{Name: "lit", Args: "on|off", Read: options.OnOff(&h.Lit)},
		options.Option{Name: "every", Args: "<duration>", Read: options.Duration(&h.Every)},
		options.Option{Name: "size", Args: "<size>", Read: options.Size(&h.Size)},
		options.Option{Name: "floors", Args: "<number>", Read: options.Number(&h.Floors)},
		options.Option{Name: "height", Args: "<metres>", Read: options.Metres(&h.Height)},
		options.Option{Name: "path", Args: "<path>", Read: options.Path(&h.Path)},
		options.Option{Name: "roof", Args: "{ … }", Read: func(d *caddyfile.Dispenser) error {
			return options.Block(d, "roof", nil,
				options.Option{Name: "colour", Args: "<name>", Read: options.Text(&h.Colour)})
		}},
	)
}

func TestBlock(t *testing.T) {
	var h house
	err := h.read(`house {
		name  "The Gables"
		kind  hut
		doors front back
		doors cellar
		open
		lit   off
		every 30d
		size  2MiB
		floors 7
		height 9.5
		roof {
			colour red
		}
		path /house
	}`)
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != "The Gables" || h.Kind != "hut" || strings.Join(h.Doors, " ") != "front back cellar" || !h.Open ||
		h.Lit == nil || *h.Lit || time.Duration(h.Every) != 30*24*time.Hour || h.Size != 2<<20 || h.Floors != 7 ||
		h.Height != 9.5 || h.Path != "/house" || h.Colour != "red" {
		t.Errorf("%+v", h)
	}
}

// Each error says what is wrong in words of its own, and where.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"house":            "house needs a name, at Testfile:1",
		"house x":          `house: unexpected argument "x", at Testfile:1`,
		"house {\nopen\n}": "house needs a name, at Testfile:1",
		"house {\nflors 7\n}": "unknown option of house: flors; did you mean floors? It is one of name, kind, doors, open, " +
			"lit, every, size, floors, height, path, roof, at Testfile:2",
		"house {\nroof {\nshape flat\n}\n}": "unknown option of roof: shape; it can only be colour, at Testfile:3",
		"house {\nroof {\ncolor red\n}\n}":  "unknown option of roof: color; did you mean colour?, at Testfile:3",
		"house {\nname a\n\nname b\n}":      "name may appear only once in house; it is already in line 2, at Testfile:4",
		"house {\nname\n}":                  "name: wrong argument count; write name TEXT, at Testfile:2",
		"house {\nname a b\n}":              "name: wrong argument count; write name TEXT, at Testfile:2",
		"house {\nname \"\"\n}":             "name: the value is empty, at Testfile:2",
		"house {\nopen wide\n}":             "open: wrong argument count; write open, at Testfile:2",
		"house {\nopen {\nname a\n}\n}":     "open takes no block, at Testfile:2",
		"house {\nroof tiles\n}":            `roof: unexpected argument "tiles", at Testfile:2`,
		"house {\ndoors\n}":                 "doors: wrong argument count; write doors DOOR_NAME..., at Testfile:2",
		"house {\nkind flta\n}": `kind: "flta" is not known; did you mean flat? It is one of flat, hut, ` +
			"at Testfile:2",
		"house {\nlit yes\n}":              "lit: it is on or off, not yes, at Testfile:2",
		"house {\nevery soon\n}":           `every: "soon" is not a duration, such as 90s, 15m, 12h or 30d, at Testfile:2`,
		"house {\nevery -1s\n}":            "every: a duration must be positive, not -1s, at Testfile:2",
		"house {\nsize 0\n}":               `size: "0" is not a positive size, such as 256MiB, at Testfile:2`,
		"house {\nsize 16EiB\n}":           `size: "16EiB" is not a positive size, such as 256MiB, at Testfile:2`,
		"house {\nfloors 1.5\n}":           `floors: "1.5" is not a positive whole number, at Testfile:2`,
		"house {\nheight NaN\n}":           `height: "NaN" is not a positive number of metres, at Testfile:2`,
		"house {\npath house\n}":           `path: "house" does not begin with a slash, at Testfile:2`,
		"house {\nname a\n\nfloors 101\n}": "floors: 101 is too high, at Testfile:4",
	} {
		if err := new(house).read(text); err == nil || err.Error() != want {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
	}
}

type shed struct {
	Length int     `json:"length,omitempty"`
	Height float64 `json:"height,omitempty"`
}

type garden struct {
	shed
	Trees []*tree `json:"trees,omitempty"`
	Owner *struct {
		Name string `json:"name"`
	} `json:"owner,omitempty"`
	Beds   map[string][]int `json:"beds,omitempty"`
	Water  caddy.Duration   `json:"water,omitempty"`
	Hidden string
}

type tree struct {
	Fruit string `json:"fruit,omitempty"`
	Old   *bool  `json:"old,omitempty"`
}

func TestDecode(t *testing.T) {
	var g garden
	err := options.Decode([]byte(`{"length":3,"height":2.5,"trees":[{"fruit":"pear","old":false}],"beds":{"north":[1,2]},
		"water":"1d","owner":{"name":"Ann"}}`), &g)
	if err != nil || g.Length != 3 || g.Height != 2.5 || g.Trees[0].Fruit != "pear" || *g.Trees[0].Old ||
		g.Beds["north"][1] != 2 || time.Duration(g.Water) != 24*time.Hour || g.Owner.Name != "Ann" {
		t.Fatalf("%+v, %v", g, err)
	}
	const known = "It is one of length, height, trees, owner, beds, water"
	for text, want := range map[string]string{
		`{"lengthh":3}`:             "lengthh: unknown field; did you mean length? " + known,
		`{"Length":3}`:              "Length: unknown field; did you mean length? " + known,
		`{"Hidden":"x"}`:            "Hidden: unknown field; i" + known[1:],
		`{"trees":[{},{"frut":1}]}`: "trees.1.frut: unknown field; did you mean fruit? It is one of fruit, old",
		`{"trees":[{"old":1}]}`:     "trees.0.old: must be true or false, without quotes",
		`{"beds":{"north":["a"]}}`:  "beds.north.0: must be a whole number, without quotes",
		`{"owner":"Ann"}`:           "owner: must be an object, in braces",
		`{"water":"soon"}`:          `water: must be a duration, such as "90s", "15m", "12h" or "30d"`,
		`{"height":"2m"}`:           "height: must be a number, without quotes",
		`{"beds":[]}`:               "beds: must be an object, in braces",
		`7`:                         "must be an object, in braces",
	} {
		if err := options.Decode([]byte(text), new(garden)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for text, want := range map[string]string{"24h": "24h", "15m": "15m", "90s": "1m30s", "1h30m": "1h30m", "10s": "10s"} {
		parsed, err := time.ParseDuration(text)
		if got := options.FormatDuration(parsed); err != nil || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
