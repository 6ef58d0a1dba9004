package remote

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// AtMost refuses a list of T with more elements than a valid response can have. Some elements take far more memory than
// bytes of the response.
func AtMost[T any](most int) *json.Unmarshalers {
	return limited[T](func(length int) bool { return length < most })
}

// InAll refuses a document whose lists of T have more elements together. It serves one document.
func InAll[T any](most int) *json.Unmarshalers {
	return limited[T](func(int) bool {
		most--
		return most >= 0
	})
}

// limited reads lists of T. mayGrow is asked with the length of a list before each of its elements.
func limited[T any](mayGrow func(length int) bool) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, list *[]T) error {
		if dec.PeekKind() != jsontext.KindBeginArray {
			return errors.ErrUnsupported // null, or no list
		}
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for *list = []T{}; dec.PeekKind() != jsontext.KindEndArray; {
			if !mayGrow(len(*list)) {
				return fmt.Errorf("too many elements, after %d", len(*list))
			}
			*list = append(*list, *new(T))
			if err := json.UnmarshalDecode(dec, &(*list)[len(*list)-1]); err != nil {
				return err
			}
		}
		_, err := dec.ReadToken()
		return err
	})
}

// Text is a JSON string, or a number as it is written. Any other value is read as "".
type Text string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (t *Text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*t = ""
	if kind := dec.PeekKind(); kind != jsontext.KindString && kind != jsontext.KindNumber {
		return dec.SkipValue()
	}
	token, err := dec.ReadToken()
	*t = Text(token.String())
	return err
}
