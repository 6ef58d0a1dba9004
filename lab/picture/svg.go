// Package picture draws results of evaluations as SVG: matched drives, and calibration curves. It computes none of
// them.
package picture

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
)

// document is an SVG document in the making. Coordinates are pixels, from the upper left.
type document struct{ body bytes.Buffer }

const font = `font-family="Helvetica, Arial, sans-serif"`

// newDocument starts a document on a white ground.
func newDocument(width, height float64, title string) *document {
	d := &document{}
	fmt.Fprintf(&d.body,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img">`+"\n",
		number(width), number(height))
	fmt.Fprintf(&d.body, "<title>%s</title>\n", html.EscapeString(title))
	d.rectangle(0, 0, width, height, `fill="#ffffff"`)
	return d
}

// end returns the document's text.
func (d *document) end() []byte {
	d.body.WriteString("</svg>\n")
	return d.body.Bytes()
}

// line draws a line through points given as x, y, x, y, …
func (d *document) line(style string, xy ...float64) {
	if len(xy) < 4 {
		return
	}
	var points strings.Builder
	for i, v := range xy {
		if i > 0 {
			points.WriteByte(" ,"[i%2])
		}
		points.WriteString(number(v))
	}
	fmt.Fprintf(&d.body, `<polyline points="%s" fill="none" %s/>`+"\n", points.String(), style)
}

func (d *document) circle(x, y, radius float64, style string) {
	fmt.Fprintf(&d.body, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", number(x), number(y), number(radius), style)
}

func (d *document) rectangle(x, y, width, height float64, style string) {
	fmt.Fprintf(&d.body, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n",
		number(x), number(y), number(width), number(height), style)
}

// text writes a line of text; anchor is start, middle or end.
func (d *document) text(x, y, size float64, anchor, fill, text string) {
	fmt.Fprintf(&d.body, `<text x="%s" y="%s" font-size="%s" text-anchor="%s" fill="%s" %s>%s</text>`+"\n",
		number(x), number(y), number(size), anchor, fill, font, html.EscapeString(text))
}

// open and close put what is drawn between them into a group with attributes.
func (d *document) open(attributes string) { fmt.Fprintf(&d.body, "<g %s>\n", attributes) }
func (d *document) close()                 { d.body.WriteString("</g>\n") }

// number is a coordinate, to a tenth of a pixel.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0")
}
