package placefile

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed levels.txt
var levelsText string

// levels maps the roles in addresses to a country's administrative levels, best first.
type levels struct{ State, County, City, Suburb []int }

// levelTable reads levels.txt: the levels of each country by its alpha-2 code, under "*" those of all others.
var levelTable = sync.OnceValue(func() map[string]levels {
	table, err := parseLevels(levelsText)
	if err != nil {
		panic(err) // levels.txt is a part of the program, and a test reads it
	}
	return table
})

func parseLevels(text string) (map[string]levels, error) {
	table := map[string]levels{}
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if _, twice := table[words[0]]; twice || len(words) != 5 {
			return nil, fmt.Errorf("levels.txt, line %d: not a new country and four lists", n+1)
		}
		var lists [4][]int
		for i, word := range words[1:] {
			if word == "-" {
				continue
			}
			for s := range strings.SplitSeq(word, ",") {
				level, err := strconv.Atoi(s)
				if err != nil || level < MinLevel || level > MaxLevel {
					return nil, fmt.Errorf("levels.txt, line %d: %q is no administrative level", n+1, s)
				}
				lists[i] = append(lists[i], level)
			}
		}
		table[words[0]] = levels{lists[0], lists[1], lists[2], lists[3]}
	}
	return table, nil
}

const (
	MinLevel     = 1
	MaxLevel     = 12
	CountryLevel = 2
)

// LevelsOf returns the levels of a country.
func LevelsOf(alpha2 string) levels {
	table := levelTable()
	if l, ok := table[alpha2]; ok {
		return l
	}
	return table["*"]
}
