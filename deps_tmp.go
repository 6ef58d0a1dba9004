package caddymaps

import (
	_ "github.com/MicahParks/keyfunc/v3"
	_ "github.com/dgraph-io/ristretto/v2"
	_ "github.com/edsrzf/mmap-go"
	_ "github.com/golang-jwt/jwt/v5"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/paulmach/orb"
	_ "github.com/paulmach/osm"
	_ "github.com/paulmach/osm/osmpbf"
	_ "github.com/paulmach/osm/osmxml"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "go.etcd.io/bbolt"
	_ "go.uber.org/zap"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
