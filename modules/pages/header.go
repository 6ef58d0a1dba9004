package pages

import (
	"bytes"
	"html/template"
	"path"
)

// header is the data of the header, which is the same on all pages.
type header struct {
	Home  string // the address of the start page
	Links []link
}

// link leads to a page, or names this one.
type link struct {
	Title, Address string // the address is relative
	Current        bool   // it is this page
	Sought         bool   // a script shows it if this server has the page
}

// navigation are the pages in the order of the header, with their folders.
var navigation = [...]struct{ folder, title string }{
	{"playground", "Map"}, {"console", "Console"}, {"docs", "API reference"},
}

// newHeader returns the header of the page of a folder. known are the addresses of the other pages by folder, "" for
// those that the server does not have. With nil, they are beside this page, and a script looks for them.
func newHeader(folder string, known map[string]string) header {
	h := header{Home: "./"}
	if known == nil {
		h.Home = "../"
	}
	for _, page := range navigation {
		l := link{Title: page.title, Address: known[page.folder]}
		switch {
		case page.folder == folder:
			l.Address, l.Current = "./", true
		case known == nil:
			l.Address, l.Sought = "../"+page.folder+"/", true
		}
		if l.Address != "" {
			h.Links = append(h.Links, l)
		}
	}
	return h
}

// parsePage returns the template of a page with its header, from a file below web.
func parsePage(file string) (*template.Template, error) {
	return template.New(path.Base(file)).ParseFS(web, "web/header.html", "web/"+file)
}

// withHeader returns the index.html of a folder with its header.
func withHeader(folder string) ([]byte, error) {
	layout, err := parsePage(folder + "/index.html")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = layout.Execute(&text, newHeader(folder, nil))
	return text.Bytes(), err
}
