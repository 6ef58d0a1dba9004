package geocodingeval

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

func TestDraw(t *testing.T) {
	testkit.Whole(t)
	svg, err := Draw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"to its middle", "5:  ", "OpenStreetMap contributors"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %q in the picture", want)
		}
	}
}
