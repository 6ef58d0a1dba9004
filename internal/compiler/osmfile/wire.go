package osmfile

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// malformed is the value of panics while reading messages, so that readers need not check each number. Functions that
// begin to read defer refuse.
type malformed struct{ error }

var errMalformed = malformed{errors.New("malformed data")}

func fail(format string, args ...any) { panic(malformed{fmt.Errorf(format, args...)}) }

// refuse recovers from a panic with malformed and returns its error.
func refuse(err *error) {
	switch e := recover().(type) {
	case nil:
	case malformed:
		*err = e.error
	default:
		panic(e)
	}
}

// wire is a protocol buffer message, or a packed list of numbers, with the position of the reader.
type wire struct {
	data []byte
	at   int
}

func (w *wire) more() bool { return w.at < len(w.data) }

// number reads the next number.
func (w *wire) number() (v uint64) {
	data := w.data
	for i, shift := w.at, 0; i < len(data) && shift < 64; i, shift = i+1, shift+7 {
		b := data[i]
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			w.at = i + 1
			return v
		}
	}
	panic(errMalformed)
}

// signed reads the next number of a list of signed ones.
func (w *wire) signed() int64 { return protowire.DecodeZigZag(w.number()) }

// field reads the next field: v of a number, or b of a list, a text or another message.
func (w *wire) field() (num protowire.Number, v uint64, b []byte) {
	num, typ := protowire.DecodeTag(w.number())
	v = w.number()
	switch {
	case num > 0 && typ == protowire.VarintType:
		return num, v, nil
	case num > 0 && typ == protowire.BytesType && v <= uint64(len(w.data)-w.at):
		b = w.data[w.at:][:v]
		w.at += int(v)
		return num, 0, b
	}
	panic(errMalformed) // the format has no fields of other types
}

// maxField is the greatest number of the fields of objects that are read.
const maxField = 10

// fields has the fields of an object by their numbers. Of repeated fields it has the last one.
type fields struct {
	lists   [maxField + 1]wire
	numbers [maxField + 1]uint64
}

// read collects the fields of a message.
func (f *fields) read(data []byte) {
	*f = fields{}
	for msg := (wire{data: data}); msg.more(); {
		if num, v, b := msg.field(); num <= maxField {
			f.numbers[num], f.lists[num].data = v, b
		}
	}
}
