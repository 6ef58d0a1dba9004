package placefile

import (
	"encoding/binary"
)

// AppendKindSet appends the kinds of a feature: their number, then key and value of each.
func AppendKindSet(data []byte, kinds []Kind, intern Intern) (_ []byte, err error) {
	data = binary.AppendUvarint(data, uint64(len(kinds)))
	for _, k := range kinds {
		for _, s := range [...]string{k.Key, k.Value} {
			if data, err = appendString(data, s, intern); err != nil {
				return data, err
			}
		}
	}
	return data, nil
}

// KindBytes is the most that the first kind of a feature takes.
const KindBytes = binary.MaxVarintLen64 + 2*(longString+1)

// Address is an address without its house number. Nearly every address has a street of its own, which is stored here;
// its other strings are in the string table.
type Address struct{ Street, Suburb, Hamlet, City, County, State, Postcode string }

// AppendAddress appends an address: a byte that lists its fields, then the fields.
func AppendAddress(data []byte, a *Address, intern Intern) ([]byte, error) {
	at, fields := len(data), byte(0)
	data = append(data, 0)
	var err error
	if a.Street != "" {
		fields = 1
		if data, err = appendString(data, a.Street, intern); err != nil {
			return data, err
		}
	}
	for i, s := range [...]string{a.Suburb, a.Hamlet, a.City, a.County, a.State, a.Postcode} {
		if s == "" {
			continue
		}
		number, err := intern(s)
		if err != nil {
			return data, err
		}
		fields |= 2 << i
		data = binary.AppendUvarint(data, number)
	}
	data[at] = fields
	return data, nil
}

// AddressBytes is the most that an address takes.
const AddressBytes = 1 + longString + 7*binary.MaxVarintLen64

// Own is the address of a feature. Its texts are parts of the file.
type Own struct{ Street, Suburb, Hamlet, City, County, State, Postcode []byte }

// ReadAddress reads an address.
func ReadAddress(r *Reader, text *Text) (o Own) {
	fields := r.Byte()
	if fields&1 != 0 {
		o.Street = r.String(text)
	}
	next := func(field byte) []byte {
		if fields&field == 0 {
			return nil
		}
		return text.String(r.Uint())
	}
	o.Suburb, o.Hamlet, o.City = next(1<<1), next(1<<2), next(1<<3)
	o.County, o.State, o.Postcode = next(1<<4), next(1<<5), next(1<<6)
	return o
}

// AppendItems appends the features of a leaf, ascending and delta-encoded.
func AppendItems(data []byte, items []uint32) []byte {
	last := uint32(0)
	for _, n := range items {
		data = binary.AppendUvarint(data, uint64(n-last))
		last = n
	}
	return data
}

// ItemBytes is the most that the features of a leaf take.
const ItemBytes = Fanout * binary.MaxVarintLen32

// ReadItems reads n features of a leaf.
func ReadItems(data []byte, n int, items *[Fanout]uint32) []uint32 {
	r, last := Reader{Data: data}, uint32(0)
	for i := range items[:n] {
		last += uint32(r.Uint())
		items[i] = last
	}
	return items[:n]
}
