package testkit

import (
	"fmt"
	"strings"
)

// FencedBlock is a fenced block of a document in Markdown.
type FencedBlock struct {
	Line     int    // of its first line in the document, behind the fence; counted from 1
	Heading  string // the nearest one above it, or nothing
	Kind     string // the word behind the fence, or nothing
	Info     string // what follows that word
	Indented bool   // it is part of a list, say
	Text     string // with a line end behind each line, and as far indented as it is
}

const fence = "```"

// FencedBlocks returns the fenced blocks of a document in their order. That one does not end is an error.
func FencedBlocks(document string) ([]FencedBlock, error) {
	var blocks []FencedBlock
	heading := ""
	lines := strings.Split(document, "\n")
	for i := 0; i < len(lines); i++ {
		opening := strings.TrimLeft(lines[i], " \t")
		if !strings.HasPrefix(opening, fence) || strings.HasPrefix(opening, fence+"`") {
			if name := strings.TrimLeft(lines[i], "#"); name != lines[i] && strings.HasPrefix(name, " ") {
				heading = strings.TrimSpace(name)
			}
			continue
		}
		indent := lines[i][:len(lines[i])-len(opening)]
		kind, info, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(opening, fence)), " ")
		b := FencedBlock{Line: i + 2, Heading: heading, Kind: kind, Info: strings.TrimSpace(info), Indented: indent != ""}
		for i++; i < len(lines) && lines[i] != indent+fence; i++ {
			b.Text += lines[i] + "\n"
		}
		if i == len(lines) {
			return nil, fmt.Errorf("line %d: the block does not end", b.Line-1)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}
