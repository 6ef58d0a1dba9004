package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/clients/go/admin"
	"github.com/mapsedge/caddy-maps/clients/go/maps"
)

// drive is through the middle of Dover, with some metres of error.
const drive = "[{39.15727,-75.52930},{39.15738,-75.52808},{39.15769,-75.52686},{39.15779,-75.52568}," +
	"{39.15803,-75.52462}]"

func places(ctx context.Context, client *maps.ClientWithResponses) {
	size, geometry, language := 3, true, "en"
	resp, err := client.ReverseGeocodeWithResponse(ctx, &maps.ReverseGeocodeParams{
		Lat: 39.1572548, Lon: -75.5197123, Size: &size, Geometry: &geometry, Language: &language,
	})
	check(err)
	if resp.JSON200 == nil {
		fail("reverse geocoding: %s: %s", resp.Status(), resp.Body)
	}
	// A number of 32 bits would have asked for 39.157253.
	if found := resp.JSON200.Data; found.Query != "39.157255,-75.519712" || len(found.Results) != 3 ||
		found.Results[0].DisplayName == "" || found.Results[0].Address.CountryCode != "USA" {
		fail("reverse geocoding: %s", resp.Body)
	}
	exact(resp.JSON200, resp.Body)

	coverage, err := client.GetCoverageWithResponse(ctx)
	check(err)
	if coverage.JSON200 == nil || coverage.JSON200.Data.Regions[0].Name != "delaware" {
		fail("coverage: %s: %s", coverage.Status(), coverage.Body)
	}
	exact(coverage.JSON200, coverage.Body)
}

func match(ctx context.Context, client *maps.ClientWithResponses) {
	radius, details := 10.0, true
	resp, err := client.MatchPathWithResponse(ctx, &maps.MatchPathParams{Path: drive, Radius: &radius, Details: &details})
	check(err)
	if resp.JSON200 == nil {
		fail("matching: %s: %s", resp.Status(), resp.Body)
	}
	matched, err := resp.JSON200.AsMatch()
	check(err)
	if len(matched.Coordinates) < 5 || len(*matched.Tracepoints) != 5 || len(*matched.Ways) == 0 ||
		math.Abs(matched.Distance-410) > 40 {
		fail("matching: %s", resp.Body)
	}
	exact(matched, resp.Body)

	format := maps.FormatPolyline6
	resp, err = client.MatchPathWithResponse(ctx, &maps.MatchPathParams{Path: drive, Format: &format})
	check(err)
	if resp.JSON200 == nil {
		fail("matching: %s: %s", resp.Status(), resp.Body)
	}
	line, err := resp.JSON200.AsMatchPolyline()
	check(err)
	exact(line, resp.Body)

	format = maps.FormatGeojson
	resp, err = client.MatchPathWithResponse(ctx, &maps.MatchPathParams{Path: drive, Format: &format, Details: &details})
	check(err)
	feature := resp.ApplicationGeoJSON200
	if feature == nil || len(feature.Geometry.Coordinates) < 5 || feature.Geometry.Coordinates[0][1] < 39 {
		fail("matching: %s: %s", resp.Status(), resp.Body)
	}
	exact(feature, resp.Body)
}

// matchTrace sends traces with times, as JSON and as GPX.
func matchTrace(ctx context.Context, client *maps.ClientWithResponses) {
	var first, second maps.TraceTime
	check(first.FromTimestamp(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)))
	check(second.FromUnixSeconds(1777629615.25))
	accuracy, details := 5.0, true
	resp, err := client.MatchTraceWithResponse(ctx, &maps.MatchTraceParams{}, maps.Trace{
		Path: []maps.TracePoint{
			{Lat: 39.15727, Lng: -75.5293, Time: &first, Accuracy: &accuracy},
			{Lat: 39.15738, Lng: -75.52808, Time: &second},
		},
		Details: &details,
	})
	check(err)
	if resp.JSON200 == nil {
		fail("matching a trace: %s: %s", resp.Status(), resp.Body)
	}
	matched, err := resp.JSON200.AsMatch()
	check(err)
	if matched.Duration == nil || len(*matched.Tracepoints) != 2 {
		fail("matching a trace: %s", resp.Body)
	}
	exact(matched, resp.Body)

	gpx := `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>` +
		`<trkpt lat="39.15727" lon="-75.5293"/><trkpt lat="39.15738" lon="-75.52808"/></trkseg></trk></gpx>`
	resp, err = client.MatchTraceWithBodyWithResponse(ctx, &maps.MatchTraceParams{}, "application/gpx+xml",
		strings.NewReader(gpx))
	check(err)
	if resp.JSON200 == nil {
		fail("matching GPX: %s: %s", resp.Status(), resp.Body)
	}
}

func tiles(ctx context.Context, client *maps.ClientWithResponses) {
	described, err := client.GetTileJSONWithResponse(ctx, "delaware")
	check(err)
	if described.JSON200 == nil || described.JSON200.Maxzoom != 14 || len(described.JSON200.VectorLayers) < 5 {
		fail("TileJSON: %s: %s", described.Status(), described.Body)
	}
	exact(described.JSON200, described.Body)
	tile, err := client.GetTileWithResponse(ctx, "delaware", 14, 4755, 6252)
	check(err)
	if tile.StatusCode() != 200 || len(tile.Body) < 1000 || tile.Headers200.ETag == "" {
		fail("tile: %s: %d bytes", tile.Status(), len(tile.Body))
	}
	none, err := client.GetTileWithResponse(ctx, "delaware", 16, 0, 0)
	check(err)
	if none.JSON404 == nil || none.JSON404.Error != "there is no such tile" {
		fail("a tile that is not there: %s: %s", none.Status(), none.Body)
	}
	style, err := client.GetStyleWithResponse(ctx, "delaware")
	check(err)
	if style.JSON200 == nil || style.JSON200.Sources["map"] == nil {
		fail("style: %s: %s", style.Status(), style.Body)
	}
	exact(style.JSON200.Sources, []byte(fmt.Sprintf(`{"map":{"type":"vector","url":%q}}`,
		os.Getenv("MAPS_URL")+"/tiles/delaware.json")))
}

// mistakes are answered with errors that have types.
func mistakes(ctx context.Context, client *maps.ClientWithResponses) {
	reverse, err := client.ReverseGeocodeWithResponse(ctx, &maps.ReverseGeocodeParams{Lat: 91})
	check(err)
	if reverse.JSON400 == nil || reverse.JSON400.Code != maps.ValidationErrorCodeFAILEDVALIDATION {
		fail("a latitude of 91: %s: %s", reverse.Status(), reverse.Body)
	}
	matched, err := client.MatchPathWithResponse(ctx, &maps.MatchPathParams{Path: "[{1,2}]"})
	check(err)
	if matched.JSON422 == nil || matched.JSON422.Error.Code != maps.RoutingProblemCodeInvalidInput ||
		matched.JSON422.Error.Status != 422 {
		fail("a path of one point: %s: %s", matched.Status(), matched.Body)
	}
	matched, err = client.MatchPathWithResponse(ctx, &maps.MatchPathParams{Path: "[{1,2},{1,2.001}]"})
	check(err)
	if matched.JSON404 == nil || matched.JSON404.Error.Code != maps.RoutingProblemCodeNoRoute {
		fail("a path in the sea: %s: %s", matched.Status(), matched.Body)
	}
}

// operation is what an operator asks beside user tokens and keys.
func (c *cycle) operation() {
	status, err := c.admin.GetStatusWithResponse(c.ctx)
	check(err)
	if status.JSON200 == nil || status.JSON200.Status != admin.StatusStatusOk {
		fail("status: %s: %s", status.Status(), status.Body)
	}
	exact(status.JSON200, status.Body)
	regions, err := c.admin.ReloadRegionsWithResponse(c.ctx)
	check(err)
	if regions.JSON200 == nil || regions.JSON200.Regions[0].Status != admin.RegionStatusOk {
		fail("regions: %s: %s", regions.Status(), regions.Body)
	}
	exact(regions.JSON200, regions.Body)
	accounts, err := c.admin.ListAccountsWithResponse(c.ctx, &admin.ListAccountsParams{Organization: organization})
	check(err)
	if accounts.JSON200 == nil || len(accounts.JSON200.Data) == 0 {
		fail("accounts: %s: %s", accounts.Status(), accounts.Body)
	}
	exact(accounts.JSON200, accounts.Body)
	limit := admin.Quota{Scope: "*", Unit: admin.QuotaUnitUnits, Window: admin.QuotaWindowMonth,
		Limit: math.MaxInt32 + 1}
	quotas, err := c.admin.SetQuotasWithResponse(c.ctx, organization, admin.QuotasRequest{Quotas: []admin.Quota{limit}})
	check(err)
	if quotas.JSON200 == nil || quotas.JSON200.Quotas[0].Limit != limit.Limit {
		fail("quotas: %s: %s", quotas.Status(), quotas.Body)
	}
	exact(quotas.JSON200, quotas.Body)
	removed, err := c.admin.RemoveQuotasWithResponse(c.ctx, organization)
	check(err)
	if removed.StatusCode() != 204 {
		fail("removing quotas: %s: %s", removed.Status(), removed.Body)
	}
	usage, err := c.admin.ShowUsageWithResponse(c.ctx, &admin.ShowUsageParams{Organization: organization})
	check(err)
	if usage.JSON200 == nil || len(usage.JSON200.Data) == 0 {
		fail("usage: %s: %s", usage.Status(), usage.Body)
	}
	exact(usage.JSON200, usage.Body)
	health, err := c.user.GetHealthWithResponse(c.ctx)
	check(err)
	if health.JSON200 == nil || health.JSON200.Status != maps.HealthStatusOk {
		fail("health: %s: %s", health.Status(), health.Body)
	}
	exact(health.JSON200, health.Body)
}

// exact checks that what was read has all that was sent, each number to its last digit.
func exact(read any, sent []byte) {
	data, err := json.Marshal(read)
	check(err)
	var got, want any
	check(json.Unmarshal(data, &got))
	check(json.Unmarshal(sent, &want))
	if !reflect.DeepEqual(got, want) {
		_ = log.Output(2, fmt.Sprintf("read %s\nof   %s", data, sent))
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		_ = log.Output(2, err.Error())
		os.Exit(1)
	}
}

func fail(format string, args ...any) {
	_ = log.Output(2, fmt.Sprintf(format, args...))
	os.Exit(1)
}
