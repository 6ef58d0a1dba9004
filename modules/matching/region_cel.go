package matching

import (
	"context"
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// CELLibrary makes the matcher a function in expressions, with the arguments that it has in a Caddyfile:
//
//	expression maps_region('delaware', '42.42,1.40,42.66,1.79')
func (*RegionMatcher) CELLibrary(ctx caddy.Context) (cel.Library, error) {
	return caddyhttp.CELMatcherImpl(
		"maps_region",
		"maps_region_match_request_list",
		[]*cel.Type{cel.ListType(cel.StringType)},
		func(data ref.Val) (caddyhttp.RequestMatcherWithError, error) {
			places, err := data.ConvertToNative(reflect.TypeFor[[]string]())
			if err != nil {
				return nil, err
			}
			m := new(RegionMatcher)
			for _, place := range places.([]string) {
				if err := m.add(place); err != nil {
					return nil, err
				}
			}
			context.AfterFunc(ctx, func() { _ = m.Cleanup() }) // Caddy does not call it for expressions
			if err := m.Provision(ctx); err != nil {
				return nil, err
			}
			return m, m.Validate()
		},
	)
}
