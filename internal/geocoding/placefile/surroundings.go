package placefile

import (
	"encoding/binary"
	"math"
)

// Surroundings are what the areas around a cell say of all of it, the areas that its border is in, and the settlements
// that can be the city, the suburb or the hamlet of a position in it.
type Surroundings struct {
	Enclosing                       Enclosing
	Areas, Cities, Suburbs, Hamlets []uint32 // features
	// There is one city, suburb or hamlet only, near enough to all of the cell.
	OneCity, OneSuburb, OneHamlet bool
}

// MaxListed is how many areas or settlements of one sort a cell may have.
const MaxListed = 15

// lists are those of the surroundings, in the order that they have in the file.
func (s *Surroundings) lists() [4]*[]uint32 {
	return [...]*[]uint32{&s.Areas, &s.Cities, &s.Suburbs, &s.Hamlets}
}

func (s *Surroundings) ones() [3]*bool { return [...]*bool{&s.OneCity, &s.OneSuburb, &s.OneHamlet} }

// AppendSurroundings adds surroundings: a byte that says of what there is one, where what encloses them begins among
// the surroundings of the root, and the lists, each with its length before it.
func AppendSurroundings(data []byte, s *Surroundings, enclosing uint64) []byte {
	flags := byte(0)
	for i, one := range s.ones() {
		if *one {
			flags |= 1 << i
		}
	}
	data = binary.AppendUvarint(append(data, flags), enclosing)
	for _, list := range s.lists() {
		data = binary.AppendUvarint(data, uint64(len(*list)))
		for _, n := range *list {
			data = binary.AppendUvarint(data, uint64(n))
		}
	}
	return data
}

// SurroundingBytes is at least what surroundings take.
const SurroundingBytes = 1 + binary.MaxVarintLen64 + 4*(1+MaxListed)*binary.MaxVarintLen32

// ReadSurroundings reads surroundings into what was read before, whose lists it uses again, and returns where what
// encloses them begins.
func ReadSurroundings(data []byte, s *Surroundings) (enclosing uint64) {
	r := Reader{Data: data, At: 1}
	for i, one := range s.ones() {
		*one = data[0]&(1<<i) != 0
	}
	enclosing = r.Uint()
	for _, list := range s.lists() {
		*list = (*list)[:0]
		for range min(r.Uint(), MaxListed) {
			*list = append(*list, uint32(r.Uint()))
		}
	}
	return enclosing
}

// AppendEnclosing adds what areas say: a bit for each role that one has; for each of these the area, its name, its
// extent and its rank; the codes of the country and of its part, and the postcode.
func AppendEnclosing(data []byte, e *Enclosing) []byte {
	mask := uint64(0)
	for role, n := range e.Feature {
		if n != 0 {
			mask |= 1 << role
		}
	}
	data = binary.AppendUvarint(data, mask)
	for role, n := range e.Feature {
		if n == 0 {
			continue
		}
		data = binary.AppendUvarint(binary.AppendUvarint(data, uint64(n)), e.Name[role])
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(e.Extent[role]))
		data = append(data, e.Rank[role])
	}
	data = append(append(data, e.CountryCode[:]...), e.SubdivisionCode[:]...)
	return binary.AppendUvarint(data, e.PostcodeText)
}

// EnclosingBytes is at least what areas say takes.
const EnclosingBytes = 2*binary.MaxVarintLen64 + 6 + roles*(2*binary.MaxVarintLen64+5)

// ReadEnclosing reads what areas say.
func ReadEnclosing(data []byte) (e Enclosing) {
	r := Reader{Data: data}
	mask := r.Uint()
	for role := range roles {
		if mask&(1<<role) != 0 {
			e.Feature[role], e.Name[role], e.Extent[role], e.Rank[role] = uint32(r.Uint()), r.Uint(), r.Float(), r.Byte()
		}
	}
	e.CountryCode, e.SubdivisionCode, e.PostcodeText = r.Code(), r.Code(), r.Uint()
	return e
}
