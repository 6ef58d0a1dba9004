package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/app"
)

func TestRegionCaddyfile(t *testing.T) {
	got, err := adaptMaps(t, `
		region delaware ./data/delaware.region
		region dover ./data/dover.region {
			awaited
		}
		region andorra https://files.example.com/andorra.region {
			refresh 15m
			cache_dir /var/cache/maps
			header Authorization "Bearer {env.MAPS_FILES_TOKEN}"
			header X-A a
			header X-A b
			timeout 10s
			max_size 10GiB
			wait 1m
		}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]*app.RegionConfig{
		"delaware": {Path: "./data/delaware.region"},
		"dover":    {Path: "./data/dover.region", Awaited: true},
		"andorra": {
			Path: "https://files.example.com/andorra.region", Refresh: caddy.Duration(15 * time.Minute),
			CacheDir: "/var/cache/maps", Timeout: caddy.Duration(10 * time.Second), MaxSize: 10 << 30,
			Wait:   caddy.Duration(time.Minute),
			Header: http.Header{"Authorization": {"Bearer {env.MAPS_FILES_TOKEN}"}, "X-A": {"a", "b"}},
		},
	}
	if diff := cmp.Diff(want, got.Regions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for option, want := range map[string]string{
		"prefix x":         "unknown option of region a: prefix",
		"awaited x":        "wrong argument count",
		"refresh":          "wrong argument count",
		"refresh soon":     "is not a duration",
		"wait 1s\nwait 1s": "wait may stand only once",
		"header a":         "wrong argument count",
		"max_size much":    "is not a positive size",
		"cache_dir":        "wrong argument count",
		"timeout -1s":      "a duration must be positive",
	} {
		_, err := adaptMaps(t, "region a b {\n"+option+"\n}")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: got %v, want %q", option, err, want)
		}
	}
}

// What a region may be is checked when the configuration is, without asking anybody, and errors show no secret.
func TestRegionValidation(t *testing.T) {
	t.Setenv("MAPS_TEST_TOKEN", "t0ken")
	t.Setenv("MAPS_TEST_URL", "https://ann:hunter2!@127.0.0.1:1/x.region")
	t.Setenv("MAPS_TEST_BROKEN_URL", "https://ann:hunter 2!@[files.example.com")
	t.Setenv("MAPS_TEST_LINES", "t0ken\nX-Other: 1")
	const remote = "https://files.example.com/x.region"
	for _, tc := range []struct{ path, fields, want string }{
		{remote, ``, ""},
		{"HTTP://127.0.0.1:1/bucket/x.region?X-Amz-Signature=a", `,"refresh":"10s","wait":"1h"`, ""},
		{"{env.MAPS_TEST_URL}", `,"header":{"authorization":["Bearer {env.MAPS_TEST_TOKEN}"]}`, ""},
		{"https://ann:{env.MAPS_TEST_TOKEN}@files.example.com/x.region", ``, ""},
		{"https://ann:hunter2@files.example.com/x.region", ``, "use {env.NAME}"},
		{"{env.MAPS_TEST_BROKEN_URL}", ``, "is none"},
		{"https:///x.region", ``, "is none"},
		{"s3://bucket/x.region", ``, "let a gateway serve it"},
		{"file:///x.region", ``, "not by file"},
		{"{env.MAPS_TEST_NOT_THERE}", ``, "region a: path:"},
		{"./x.region", `,"refresh":"1h"`, "refresh: it is for regions that are fetched"},
		{"./x.region", `,"awaited":true`, ""},
		{remote, `,"awaited":true`, "awaited: it is for a file of this machine"},
		{remote, `,"refresh":"9s"`, "refresh: 9s is less than 10s"},
		{remote, `,"timeout":"1ms"`, "timeout: 1ms is less than 1s"},
		{remote, `,"max_size":-1`, "max_size: must not be negative"},
		{remote, `,"wait":-1`, "wait: must not be negative"},
		{remote, `,"cache_dir":"{no.such.thing}"`, "cache_dir:"},
		{remote, `,"header":{"authorization":["Bearer hunter2"]}`, "use {env.NAME}"},
		{remote, `,"header":{"a b":["x"]}`, "is no name of a field"},
		{remote, `,"header":{"range":["bytes=0-"]}`, "Range is not for"},
		{remote, `,"header":{"x":["{env.MAPS_TEST_LINES}"]}`, "has a line break"},
	} {
		err := validate(`{"regions":{"a":{"path":"` + tc.path + `"` + tc.fields + `}}}`)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s%s: got %v, want %q", tc.path, tc.fields, err, tc.want)
		}
		for _, secret := range []string{"hunter2", "hunter 2", "hunter%202", "t0ken"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s%s: the error shows the secret: %v", tc.path, tc.fields, err)
			}
		}
	}
}
