package main

import (
	"fmt"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// block is a fenced block of commands in a document, with the output that the reader sees.
type block struct {
	line     int      // of its first line in the document, counted from 1
	machines []string // where it is typed: one machine, or several
	text     string
	shows    []string // the lines that are shown behind it; nil where none are
	showLine int      // of the first of these
}

// parse finds the commands of a document: every block ```sh with the names of the machines that it is for behind it,
// and as what it prints the block ```text that follows. It takes no block of another kind, so that none is left out.
func parse(document string, machines []string) ([]block, error) {
	found, err := testkit.FencedBlocks(document)
	if err != nil {
		return nil, err
	}
	var blocks []block
	for _, b := range found {
		opening := b.Line - 1
		switch {
		case b.Indented:
			return nil, fmt.Errorf("line %d: a block may not be indented", opening)
		case b.Kind == "":
			return nil, fmt.Errorf("line %d: a block of no kind; sh and text are known", opening)
		case b.Kind == "sh":
			on, err := named(strings.Fields(b.Info), machines)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", opening, err)
			}
			blocks = append(blocks, block{line: b.Line, machines: on, text: b.Text})
		case b.Kind == "text":
			last := len(blocks) - 1
			if last < 0 || blocks[last].shows != nil {
				return nil, fmt.Errorf("line %d: no commands before this could print it", opening)
			}
			if b.Info != "" || b.Text == "" {
				return nil, fmt.Errorf("line %d: a block of output has lines, and nothing behind text", opening)
			}
			blocks[last].shows = strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n")
			blocks[last].showLine = b.Line
		default:
			return nil, fmt.Errorf("line %d: unknown kind of block %q; sh and text are known", opening, b.Kind)
		}
	}
	return blocks, nil
}

// named checks the names of machines after sh. Without a name, the first machine is meant.
func named(names, machines []string) ([]string, error) {
	if len(names) == 0 {
		return machines[:1], nil
	}
	for _, name := range names {
		known := false
		for _, machine := range machines {
			known = known || name == machine
		}
		if !known {
			return nil, fmt.Errorf("unknown machine %q; known are %s", name, strings.Join(machines, ", "))
		}
	}
	return names, nil
}
