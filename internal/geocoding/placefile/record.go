package placefile

import (
	"encoding/binary"
	"math"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Record is what a region stores of a feature:
//
//   - head: a byte with the shape and flags; the Corner; unless it is a position, extent and size of the details
//   - details: reference, kinds, Area, name, address, names in other languages
//   - geometry
type Record struct {
	Kinds    uint64 // where they begin
	Ref      uint64 // see NewRef
	Extent   float32
	Geometry *geometry.Geometry
	IsStreet bool // its name is the street of its address
	// Name is empty if it consists of house number and street, or if Area has it.
	Name        string
	HouseNumber string
	Address     uint64 // where the rest of it begins, 0 for none
	Area        *Area  // of what serves addresses
	Names       []Kind
}

// The bits of a record's first byte.
const (
	recordShape   = 1<<2 - 1
	recordStreet  = 1 << 2
	recordName    = 1 << 3
	recordAddress = 1 << 4
	recordArea    = 1 << 5
	recordNames   = 1 << 6
)

// Intern returns the offset of a string in the string table.
type Intern func(string) (uint64, error)

// AppendRecord appends a record. corner is the offset where InsertCorner puts the Corner if the block has a shift.
func AppendRecord(data []byte, r *Record, intern Intern) (_ []byte, corner int, err error) {
	flags := byte(r.Geometry.Shape)
	for _, f := range [...]struct {
		bit byte
		is  bool
	}{
		{recordStreet, r.IsStreet}, {recordName, r.Name != ""}, {recordAddress, r.HouseNumber != "" || r.Address != 0},
		{recordArea, r.Area != nil}, {recordNames, len(r.Names) > 0},
	} {
		if f.is {
			flags |= f.bit
		}
	}
	data = append(data, flags)
	corner = len(data)
	if r.Geometry.Shape == geometry.Point {
		data, err = r.appendDetails(data, intern)
		return data, corner, err
	}
	data = binary.LittleEndian.AppendUint32(data, math.Float32bits(r.Extent))
	details, err := r.appendDetails(nil, intern)
	data = append(binary.AppendUvarint(data, uint64(len(details))), details...)
	return append(data, r.Geometry.Bytes()...), corner, err
}

func (r *Record) appendDetails(data []byte, intern Intern) ([]byte, error) {
	data = binary.AppendUvarint(binary.AppendUvarint(data, r.Ref), r.Kinds)
	if a := r.Area; a != nil {
		data = append(append(data, a.Country[:]...), byte(a.Flags), a.State, a.City, a.Suburb, a.County)
		data = binary.AppendUvarint(binary.AppendUvarint(data, a.Postcode), a.Name)
	}
	var err error
	text := func(s string) {
		if err == nil {
			data, err = appendString(data, s, intern)
		}
	}
	if r.Name != "" {
		text(r.Name)
	}
	if r.HouseNumber != "" || r.Address != 0 {
		text(r.HouseNumber)
		data = binary.AppendUvarint(data, r.Address)
	}
	if len(r.Names) > 0 {
		before := data
		data = nil
		for _, n := range r.Names {
			text(n.Key)
			text(n.Value)
		}
		data = append(binary.AppendUvarint(before, uint64(len(data))), data...)
	}
	return data, err
}

// appendString appends a string: twice its length and its bytes, or twice its offset in the string table plus one.
func appendString(data []byte, s string, intern Intern) ([]byte, error) {
	if len(s) <= longString {
		return append(binary.AppendUvarint(data, uint64(len(s))<<1), s...), nil
	}
	at, err := intern(s)
	return binary.AppendUvarint(data, at<<1|1), err
}
