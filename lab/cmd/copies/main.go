// Command copies writes an extract of many copies of a small one, side by side, as a country to measure with:
//
//	copies -n 64 porto.osm.pbf porto64.osm.pbf
//
// With -connected the copies lie in a square, and roads lead from each one to its neighbours.
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
	connected := flag.Bool("connected", false, "connect the copies by roads")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: copies [-n number] [-connected] in.osm.pbf out.osm.pbf")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	write := dataset.Copies
	if *connected {
		write = dataset.Connected
	}
	if _, err := write(ctx, flag.Arg(0), flag.Arg(1), *n); err != nil {
		fmt.Fprintln(os.Stderr, "copies:", err)
		stop()
		os.Exit(1)
	}
}
