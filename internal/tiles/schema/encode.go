package schema

import (
	"encoding/binary"
	"errors"
	"math"
)

// The types of values in the encoding.
const (
	textValue = iota
	intValue
	floatValue
	falseValue
	trueValue
)

// Encode encodes a class. Equal classes have equal encodings.
func (c Class) Encode() string {
	b := make([]byte, 0, 64)
	b = append(b, byte(c.Layer), byte(c.Geometry), c.MinZoom, c.NameZoom)
	b = binary.AppendUvarint(b, uint64(len(c.Attrs)))
	for i := range c.Attrs {
		a := &c.Attrs[i]
		b = append(appendText(b, a.Key), a.MinZoom)
		switch v := a.Value.(type) {
		case string:
			b = appendText(append(b, textValue), v)
		case int64:
			b = binary.AppendVarint(append(b, intValue), v)
		case float64:
			b = binary.LittleEndian.AppendUint64(append(b, floatValue), math.Float64bits(v))
		case bool:
			if v {
				b = append(b, trueValue)
			} else {
				b = append(b, falseValue)
			}
		}
	}
	return string(b)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

var errClass = errors.New("the class of a map feature is damaged")

// DecodeClass decodes the result of Encode.
func DecodeClass(encoded string) (Class, error) {
	d := decoder{rest: encoded}
	c := Class{Layer: Layer(d.byte()), Geometry: Geometry(d.byte()), MinZoom: d.byte(), NameZoom: d.byte()}
	n := d.uvarint()
	if c.Layer >= layers || c.Geometry > Polygon || n > uint64(len(d.rest)) {
		return Class{}, errClass
	}
	c.Attrs = make([]Attr, n)
	for i := range c.Attrs {
		c.Attrs[i] = Attr{Key: d.text(), MinZoom: d.byte(), Value: d.value()}
	}
	if d.bad || d.rest != "" {
		return Class{}, errClass
	}
	return c, nil
}

type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.bad = true
		return ""
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := d.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) text() string { return d.take(d.uvarint()) }

func (d *decoder) value() any {
	switch d.byte() {
	case textValue:
		return d.text()
	case intValue:
		v := d.uvarint()
		return int64(v>>1) ^ -int64(v&1)
	case floatValue:
		if b := d.take(8); b != "" {
			return math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
		}
	case falseValue:
		return false
	case trueValue:
		return true
	}
	d.bad = true
	return nil
}
