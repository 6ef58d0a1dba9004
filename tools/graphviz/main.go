// Command graphviz draws a graph in the DOT language as SVG, by Graphviz compiled to WebAssembly.
package main

import (
	"bytes"
	"context"
	"flag"
	"log"
	"os"

	"github.com/goccy/go-graphviz"
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: graphviz INPUT.dot OUTPUT.svg")
	}
	if err := draw(flag.Arg(0), flag.Arg(1)); err != nil {
		log.Fatal(err)
	}
}

func draw(input, output string) error {
	text, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	ctx := context.Background()
	g, err := graphviz.New(ctx)
	if err != nil {
		return err
	}
	graph, err := graphviz.ParseBytes(text)
	if err != nil {
		return err
	}
	var svg bytes.Buffer
	if err := g.Render(ctx, graph, graphviz.SVG, &svg); err != nil {
		return err
	}
	return os.WriteFile(output, svg.Bytes(), 0o644)
}
