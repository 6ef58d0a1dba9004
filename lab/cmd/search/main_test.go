package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/queries"
)

func TestDelawareInSmall(t *testing.T) {
	testkit.Whole(t)
	delaware, err := dataset.Delaware(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	native := filepath.Join(t.TempDir(), "native.osm.pbf")
	for _, s := range []settings{
		{script: "Greek", write: native},
		{n: 20, seed: 1},
		{n: 20, seed: 1, script: "Greek", kind: queries.KindStreet},
	} {
		var out bytes.Buffer
		s.out = &out
		if _, err := s.run(t.Context(), delaware); err != nil {
			t.Fatal(err)
		}
		for _, kind := range queries.Kinds() {
			if has := strings.Contains(out.String(), " "+kind+"  20  "); has != (s.write == "" && (s.kind == "" || s.kind == kind)) {
				t.Errorf("%+v has %s: %t, in\n%s", s, kind, has, &out)
			}
		}
		t.Log(out.String())
	}
	if x, err := queries.Read(t.Context(), native); err != nil || x == nil {
		t.Error(err)
	}
}
