package request

import (
	"bytes"
	"mime/multipart"
	"strings"
	"testing"
)

func TestFormFile(t *testing.T) {
	const file = "--b\r\nContent-Disposition: form-data; name=\"trace\"; filename=\"a.gpx\"\r\n\r\n<gpx/>\r\n"
	field := func(name string) string {
		return "--b\r\ncontent-disposition: form-data; name=" + name + "\r\n\r\n1\r\n"
	}
	for _, tc := range []struct{ body, want string }{
		{file + "--b--", "<gpx/>"},
		{"preamble\r\n" + field("note") + file + file[:len(file)-8] + "other\r\n--b--\r\nepilogue", "<gpx/>"},
		{strings.Replace(file, "--b\r\n", "--b \t\r\nContent-Type: application/octet-stream\r\n", 1) + "--b--\r\n", "<gpx/>"},
		{strings.Replace(file, "<gpx/>", "", 1) + "--b--", ""},
		{strings.Replace(file, "<gpx/>", "\r\n\r\n--\r\n--a", 1) + "--b--", "\r\n\r\n--\r\n--a"},
		{strings.Repeat(field("x"), maxFields-1) + file + "--b--", "<gpx/>"},
		{strings.Repeat(field("x"), maxFields) + file + "--b--", "error: more than 32 fields"},
		{field("radius") + file + "--b--", "error: radius: belongs in the query"},
		{file + field("radius") + "--b--", "error: radius: belongs in the query"},
		{field("x") + "--b--", "error: has no file"},
		{"--b--", "error: has no file"},
		{file, "error: ends early"},
		{file[:40], "error: ends early"},
		{"", "error: is not a form"}, {"<gpx/>", "error: is not a form"},
		{"--b\r\n\r\n1\r\n--b--", "error: no well-formed Content-Disposition"},
		{"--b\r\nContent-Disposition: ;\r\n\r\n1\r\n--b--", "error: no well-formed Content-Disposition"},
		{"--b\r\nContent-Disposition: form-data; name=x\r\n--b--", "error: has no header"},
		{"--b\r\nX: " + strings.Repeat("x", 5000) + "\r\n\r\n1\r\n--b--", "error: a long one"},
	} {
		got, err := FormFile([]byte(tc.body), "b", []string{"radius"})
		if says, wrong := strings.CutPrefix(tc.want, "error: "); wrong {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %q, %v, want an error with %s", tc.body, got, err, says)
			}
		} else if err != nil || string(got) != tc.want {
			t.Errorf("%q: %q, %v", tc.body, got, err)
		}
	}
	if _, err := FormFile([]byte("\r\n--\r\n"), "", nil); err == nil {
		t.Error("a form without a boundary was read")
	}
}

// FuzzFormFile: a file is found as mime/multipart finds it.
func FuzzFormFile(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=a; filename=b\r\n\r\nc\r\n--b--"), []byte("x"))
	f.Add([]byte("\r\n--b \r\n\r\n\r\n--b"), []byte("\r\n--"))
	f.Fuzz(func(t *testing.T, body, content []byte) {
		_, _ = FormFile(body, "b", nil)
		var whole bytes.Buffer
		w := multipart.NewWriter(&whole)
		if bytes.Contains(content, []byte(w.Boundary())) {
			return
		}
		_ = w.WriteField("note", string(body))
		file, _ := w.CreateFormFile("trace", "über \"x\".gpx")
		_, _ = file.Write(content)
		w.Close()
		if bytes.Contains(body, []byte(w.Boundary())) {
			return
		}
		got, err := FormFile(whole.Bytes(), w.Boundary(), nil)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%q instead of %q: %v", got, content, err)
		}
	})
}
