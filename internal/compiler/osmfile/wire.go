package osmfile

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// malformed is what the reading of messages panics with, so that not each number needs a check by its reader. Whoever
// begins to read defers refuse.
type malformed struct{ error }

var errMalformed = malformed{errors.New("malformed data")}

func fail(format string, args ...any) { panic(malformed{fmt.Errorf(format, args...)}) }

// refuse makes an error of the panic of a message that is malformed.
func refuse(err *error) {
	switch e := recover().(type) {
	case nil:
	case malformed:
		*err = e.error
	default:
		panic(e)
	}
}

// wire is what is left of a protocol buffer message, or of a packed list of numbers.
type wire []byte

// number takes the next number.
func (w *wire) number() uint64 {
	if b := *w; len(b) > 0 && b[0] < 0x80 {
		*w = b[1:]
		return uint64(b[0])
	}
	return w.longNumber()
}

func (w *wire) longNumber() uint64 {
	v, n := protowire.ConsumeVarint(*w)
	if n < 0 {
		panic(errMalformed)
	}
	*w = (*w)[n:]
	return v
}

// signed takes the next number of a list of signed ones.
func (w *wire) signed() int64 { return protowire.DecodeZigZag(w.number()) }

// field takes the next field: v for a number; b, which is not nil then, for a list, a text or another message.
func (w *wire) field() (num protowire.Number, v uint64, b wire) {
	num, typ := protowire.DecodeTag(w.number())
	v = w.number()
	switch {
	case num > 0 && typ == protowire.VarintType:
		return num, v, nil
	case num > 0 && typ == protowire.BytesType && v <= uint64(len(*w)):
		b, *w = (*w)[:v], (*w)[v:]
		return num, 0, b
	}
	panic(errMalformed) // the format has no fields of other types
}

// maxField is the greatest number of a field that is read of an object.
const maxField = 10

// fields are the fields of an object by their numbers. Of one that comes twice it is the last.
type fields struct {
	lists   [maxField + 1]wire // nil where there is none
	numbers [maxField + 1]uint64
}

// read collects the fields of a message.
func (f *fields) read(msg wire) {
	*f = fields{}
	for len(msg) > 0 {
		if num, v, b := msg.field(); num <= maxField {
			f.numbers[num], f.lists[num] = v, b
		}
	}
}

// count is how many numbers a list holds.
func (w wire) count() (n int) {
	for _, b := range w {
		n += int(^b >> 7)
	}
	return n
}
