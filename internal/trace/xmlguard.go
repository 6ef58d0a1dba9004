package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/net/html/charset"
)

const (
	// maxAttributes limits the attributes of an element. encoding/xml keeps all of them, and each takes up to ten times
	// the memory of its text. Elements of GPX have two, its root some more.
	maxAttributes = 100
	// meteredBytes is the number of bytes between two calls of the meter, meteredWork their work in its unit.
	meteredBytes = 4 << 10
	meteredWork  = 400
)

// xmlGuard passes an XML document on to encoding/xml byte by byte, and stops before an element takes too much memory.
//
// It only counts attributes. Each "<" resets it, since no tag contains one: a "<" in a comment, say, misleads it only
// until the next tag.
type xmlGuard struct {
	raw     *bytes.Reader
	utf8    io.ByteReader // decoded; raw until the document declares an encoding
	encoded bool          // whether it has
	meter   Meter
	stopped error // why the guard stopped, if it did

	read       int
	tag        tagPart
	quote      byte // ends the value of the attribute
	attributes int
}

func newXMLGuard(document []byte, meter Meter) *xmlGuard {
	raw := bytes.NewReader(document)
	return &xmlGuard{raw: raw, utf8: raw, meter: meter}
}

// tagPart is the position in a tag.
type tagPart uint8

const (
	noTag  tagPart = iota // or in something that has no attributes
	opened                // behind the "<"
	inTag
	inValue
)

// ReadByte implements io.ByteReader, which is what encoding/xml uses.
func (g *xmlGuard) ReadByte() (byte, error) {
	c, err := g.utf8.ReadByte()
	if err != nil {
		return c, err
	}
	if g.read++; g.read%meteredBytes == 0 && g.meter != nil {
		if err := g.meter.Spend(meteredWork); err != nil {
			return 0, g.stop(err)
		}
	}
	switch {
	case c == '<':
		g.tag, g.attributes = opened, 0
	case g.tag == noTag:
	case g.tag == opened && (c == '!' || c == '?'):
		g.tag = noTag
	case g.tag == inValue:
		if c == g.quote {
			g.tag = inTag
		}
	case c == '"' || c == '\'':
		g.tag, g.quote = inValue, c
	case c == '>':
		g.tag = noTag
	case c == '=':
		if g.attributes++; g.attributes > maxAttributes {
			problem := fmt.Sprintf("an element has more than %d attributes", maxAttributes)
			return 0, g.stop(&InputError{Parameter: "gpx", Point: -1, Problem: problem})
		}
		fallthrough
	default:
		g.tag = inTag
	}
	return c, nil
}

func (g *xmlGuard) stop(err error) error {
	g.stopped = err
	return err
}

// Read implements io.Reader, which is what xml.Decoder hands to its CharsetReader.
func (g *xmlGuard) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c, err := g.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		p[n] = c
		n++
	}
	return n, nil
}

// charset implements xml.Decoder.CharsetReader. encoding/xml accepts several declarations, anywhere.
func (g *xmlGuard) charset(label string, _ io.Reader) (io.Reader, error) {
	if g.encoded {
		return nil, errors.New("it is declared twice")
	}
	g.encoded = true
	utf8, err := charset.NewReaderLabel(label, g.raw)
	if err != nil {
		return nil, err
	}
	g.utf8 = bufio.NewReader(utf8)
	return g, nil
}
