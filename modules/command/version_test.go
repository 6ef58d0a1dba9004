package command_test

import (
	"encoding/json"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/region"
)

func TestVersion(t *testing.T) {
	text, _, err := run(t, "", "version")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{`caddy-maps +\(devel\)`, `Caddy +\S+`, `Go +` + regexp.QuoteMeta(runtime.Version()),
		`Region file format +\d+`, `Store tables +\d+`} {
		if !regexp.MustCompile(`(?m)^` + row).MatchString(text) {
			t.Errorf("%s\nlacks %s", text, row)
		}
	}

	out, _, err := run(t, "", "version", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Version, Caddy, Go string
		Formats            map[string]int
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(v.Version, "(devel)") || v.Caddy == "" || v.Go != runtime.Version() ||
		len(v.Formats) != 2 || v.Formats["region"] != region.Version || v.Formats["store"] != store.SchemaVersion {
		t.Errorf("%+v", v)
	}

	if _, _, err := run(t, "", "version", "twice"); err == nil {
		t.Error("an argument is taken")
	}
}
