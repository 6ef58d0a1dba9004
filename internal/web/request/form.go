package request

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/textproto"
	"slices"
)

const (
	// maxFields limits the parts of a form, and maxFieldHeader the bytes of each header, because both need memory and time
	// beyond those of the body.
	maxFields      = 32
	maxFieldHeader = 4 << 10
)

// FormFile returns the first file of a form (multipart/form-data, RFC 7578), as a part of its body. package
// mime/multipart would copy it. Other fields are ignored, except that those with a name in query are refused: they are
// parameters of the query. Clients can see the error.
func FormFile(body []byte, boundary string, query []string) (file []byte, err error) {
	delimiter := []byte("\r\n--" + boundary)
	rest, begins := bytes.CutPrefix(body, delimiter[len("\r\n"):])
	if !begins {
		_, rest, begins = bytes.Cut(body, delimiter) // behind a preamble
	}
	if !begins || boundary == "" {
		return nil, errors.New("body: is not a form with the boundary of Content-Type")
	}
	found := false
	for n := 0; !bytes.HasPrefix(rest, []byte("--")); n++ {
		if n == maxFields {
			return nil, fmt.Errorf("body: the form has more than %d fields", maxFields)
		}
		part, next, ended := bytes.Cut(rest, delimiter)
		if !ended {
			return nil, errors.New("body: the form ends early")
		}
		rest = next
		name, content, isFile, err := readField(part)
		switch {
		case err != nil:
			return nil, err
		case isFile && !found:
			file, found = content, true
		case !isFile && slices.Contains(query, name):
			return nil, fmt.Errorf("%s: belongs in the query, not in the form", name)
		}
	}
	if !found {
		return nil, errors.New("body: the form has no file")
	}
	return file, nil
}

// readField splits what follows a delimiter: the end of its line, a header, an empty line and the content.
func readField(part []byte) (name string, content []byte, isFile bool, err error) {
	header, content, ended := bytes.Cut(part, []byte("\r\n\r\n"))
	if !ended || len(header) > maxFieldHeader {
		return "", nil, false, errors.New("body: a field of the form has no header, or a long one")
	}
	_, header, _ = bytes.Cut(header, []byte("\r\n"))
	fields, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(header[:len(header):len(header)],
		"\r\n\r\n"...)))).ReadMIMEHeader()
	if err == nil {
		var params map[string]string
		if _, params, err = mime.ParseMediaType(fields.Get("Content-Disposition")); err == nil {
			_, isFile = params["filename"]
			return params["name"], content, isFile, nil
		}
	}
	return "", nil, false, errors.New("body: a field of the form has no well-formed Content-Disposition")
}
