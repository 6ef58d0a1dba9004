package placefile

import (
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Head is the beginning of a record.
type Head struct {
	flags    byte
	Extent   float32
	Dx, Dy   uint32
	Details  int // where they begin in the record
	Geometry int // where it begins in the record
}

// ReadHead reads the head of a record in a block with a shift.
func ReadHead(data []byte, shift uint8) (h Head) {
	h.flags = data[0]
	r := Reader{Data: data, At: 1 + 2*cornerBytes(shift)}
	switch cornerBytes(shift) {
	case 1:
		h.Dx, h.Dy = uint32(data[1]), uint32(data[2])
	case 2:
		h.Dx, h.Dy = uint32(data[1])|uint32(data[2])<<8, uint32(data[3])|uint32(data[4])<<8
	}
	if h.Shape() == geometry.Point {
		h.Details = r.At
		return h
	}
	h.Extent = r.Float()
	length := r.Uint()
	h.Details = r.At
	if h.Geometry = r.At + int(length); h.Geometry < r.At {
		geometry.Corrupt("a feature has no end")
	}
	return h
}

// Shape returns the shape of the feature.
func (h *Head) Shape() geometry.Shape { return geometry.Shape(h.flags & recordShape) }

// IsStreet reports whether the name of the feature is the street of its address.
func (h *Head) IsStreet() bool { return h.flags&recordStreet != 0 }

// Details are the details of a record. Texts are parts of the file.
type Details struct {
	Ref         uint64
	Kinds       uint64 // where they begin
	Name        []byte // empty where it is the house number and the street
	HouseNumber []byte
	Address     uint64 // where the rest of the address begins, 0 for none
	Names       int    // where those in other languages begin in the bytes that were read, 0 for none
}

// DetailBytes is the most that the details of a feature take before its names in other languages.
const DetailBytes = 8 + 5*binary.MaxVarintLen64 + 3 + 2*longString

// ReadRef reads the reference of a feature from the beginning of its details.
func (h *Head) ReadRef(r *Reader) uint64 { return r.Uint() }

// ReadArea reads the roles of an area from the beginning of its details; false if the feature is none.
func (h *Head) ReadArea(r *Reader) (a Area, ok bool) {
	if h.flags&recordArea == 0 {
		return a, false
	}
	h.ReadRef(r)
	r.Uint()
	return readArea(r), true
}

func readArea(r *Reader) (a Area) {
	a.Country = r.Code()
	a.Flags, a.State, a.City, a.Suburb, a.County = areaFlags(r.Byte()), r.Byte(), r.Byte(), r.Byte(), r.Byte()
	a.Postcode, a.Name = r.Uint(), r.Uint()
	return a
}

// ReadDetails reads the details of a record from their beginning.
func (h *Head) ReadDetails(r *Reader, text *Text) (d Details) {
	d.Ref, d.Kinds = h.ReadRef(r), r.Uint()
	if h.flags&recordArea != 0 {
		a := readArea(r)
		d.Name = text.String(a.Name)
	}
	if h.flags&recordName != 0 {
		d.Name = r.String(text)
	}
	if h.flags&recordAddress != 0 {
		d.HouseNumber, d.Address = r.String(text), r.Uint()
	}
	if h.flags&recordNames != 0 {
		d.Names = r.At
	}
	return d
}
