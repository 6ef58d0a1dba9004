package request

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// WriteJSON answers with a value as JSON. A value that cannot be marshalled is a mistake of the program, and panics.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // an error means that the client has gone
}
