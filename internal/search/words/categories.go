package words

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed categories.txt
var categoriesTable string

// Category is a kind of feature, with its names.
type Category struct {
	// Key and Value are a tag of OpenStreetMap, such as amenity and fuel.
	Key, Value string
	// Names are phrases in several languages, singular and plural, in natural spelling: "gas station", "Tankstelle".
	// Append normalizes them. No name belongs to two categories.
	Names []string
}

var categories = sync.OnceValue(func() []Category {
	var list []Category
	for line := range lines(categoriesTable) {
		tag, names, _ := strings.Cut(line, ":")
		key, value, _ := strings.Cut(tag, "=")
		category := Category{Key: key, Value: value}
		for name := range strings.SplitSeq(names, ",") {
			category.Names = append(category.Names, strings.TrimSpace(name))
		}
		list = append(list, category)
	}
	return list
})

// Categories returns the kinds of features that people search for. The slice is shared: do not change it.
func Categories() []Category { return categories() }
