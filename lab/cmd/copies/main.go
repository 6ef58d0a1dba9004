// Command copies writes an extract of many copies of a small one, side by side, as a country to measure with:
//
//	copies -n 64 porto.osm.pbf porto64.osm.pbf
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/mapsedge/caddy-maps/lab/dataset"
)

func main() {
	n := flag.Int("n", 64, "`number` of copies")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: copies [-n number] in.osm.pbf out.osm.pbf")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := dataset.Copies(ctx, flag.Arg(0), flag.Arg(1), *n); err != nil {
		fmt.Fprintln(os.Stderr, "copies:", err)
		stop()
		os.Exit(1)
	}
}
