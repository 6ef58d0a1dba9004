package apierror

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	for _, tc := range []struct {
		name                      string
		err                       Error
		platform, routing         int
		platformBody, routingBody string
		header                    map[string]string
	}{
		{"validation", FailedValidation("size: must be 1 to 5"), 400, 422,
			`{"error":"size: must be 1 to 5","code":"FAILED_VALIDATION"}`,
			`{"error":{"code":"InvalidInput","message":"size: must be 1 to 5","status":422}}`, nil},
		{"no token", Unauthorized(false), 401, 401,
			`{"error":"invalid or missing api key"}`,
			`{"error":{"code":"Not Authorized - No Token","message":"no token was sent","status":401}}`,
			map[string]string{"Www-Authenticate": "Bearer", "Cache-Control": "no-store"}},
		{"bad token", Unauthorized(true), 401, 401,
			`{"error":"invalid or missing api key"}`,
			`{"error":{"code":"Not Authorized - Invalid Token","message":"the token is invalid or has expired","status":401}}`,
			map[string]string{"Www-Authenticate": `Bearer error="invalid_token"`, "Cache-Control": "no-store"}},
		{"scope", InsufficientScope("TILE ONM"), 403, 403,
			`{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`,
			`{"error":{"code":"InsufficientScope","message":"insufficient scope","status":403}}`,
			map[string]string{"Www-Authenticate": `Bearer error="insufficient_scope", scope="TILE ONM"`,
				"Cache-Control": "no-store"}},
		{"restricted", Restricted(), 403, 403,
			`{"error":"the token may not be used from here","code":"RESTRICTED"}`,
			`{"error":{"code":"RESTRICTED","message":"the token may not be used from here","status":403}}`,
			map[string]string{"Www-Authenticate": "", "Cache-Control": "no-store"}},
		{"quota", NewQuota("units-day-TILE").Exceeded(QuotaUse{1 << 53, 3, 24 * time.Hour, 61 * time.Second}), 429, 429,
			`{"error":"the quota units-day-TILE is exceeded","code":"QUOTA_EXCEEDED"}`,
			`{"error":{"code":"QUOTA_EXCEEDED","message":"the quota units-day-TILE is exceeded","status":429}}`,
			map[string]string{
				"Retry-After": "61", "Cache-Control": "no-store", "RateLimit": `"units-day-TILE";r=3;t=61`,
				"RateLimit-Policy": `"units-day-TILE";q=999999999999999;w=86400`,
			}},
		{"not found", NotFound("service account not found"), 404, 404,
			`{"error":"service account not found"}`,
			`{"error":{"code":"NotFound","message":"service account not found","status":404}}`, nil},
		{"no route", NoRoute("no road"), 404, 404,
			`{"error":"no road"}`,
			`{"error":{"code":"NoRoute","message":"no road","status":404}}`, nil},
		{"method", MethodNotAllowed("GET", "HEAD"), 405, 405,
			`{"error":"method not allowed"}`,
			`{"error":{"code":"MethodNotAllowed","message":"method not allowed","status":405}}`,
			map[string]string{"Allow": "GET, HEAD"}},
		{"transition", InvalidTransition("revoked <for good>"), 409, 409,
			`{"error":"revoked <for good>","code":"INVALID_TRANSITION"}`,
			`{"error":{"code":"InvalidTransition","message":"revoked <for good>","status":409}}`, nil},
		{"slow", RequestTimeout(), 408, 408,
			`{"error":"the request body did not arrive in time"}`,
			`{"error":{"code":"RequestTimeout","message":"the request body did not arrive in time","status":408}}`,
			map[string]string{"Connection": "close"}},
		{"large", TooLarge(), 413, 413,
			`{"error":"request body too large"}`,
			`{"error":{"code":"TooLarge","message":"request body too large","status":413}}`, nil},
		{"media type", UnsupportedMediaType(), 415, 415,
			`{"error":"unsupported media type"}`,
			`{"error":{"code":"UnsupportedMediaType","message":"unsupported media type","status":415}}`, nil},
		{"busy", Busy(1500 * time.Millisecond), 503, 503,
			`{"error":"too many requests are under way"}`,
			`{"error":{"code":"Unavailable","message":"too many requests are under way","status":503}}`,
			map[string]string{"Retry-After": "2"}},
		{"internal", Internal(), 500, 500,
			`{"error":"internal server error"}`,
			`{"error":{"code":"InternalError","message":"internal server error","status":500}}`, nil},
		{"gateway", BadGateway(), 502, 502,
			`{"error":"bad gateway"}`,
			`{"error":{"code":"BadGateway","message":"bad gateway","status":502}}`, nil},
		{"unavailable", Unavailable(), 503, 503,
			`{"error":"service unavailable"}`,
			`{"error":{"code":"Unavailable","message":"service unavailable","status":503}}`,
			map[string]string{"Cache-Control": "no-store"}},
		{"slow query", TooSlow(), 503, 503,
			`{"error":"the query takes too long"}`,
			`{"error":{"code":"Unavailable","message":"the query takes too long","status":503}}`, nil},
		{"timeout", Timeout(), 504, 504,
			`{"error":"timeout"}`,
			`{"error":{"code":"Timeout","message":"timeout","status":504}}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for style, want := range map[Style]struct {
				status int
				body   string
			}{Platform: {tc.platform, tc.platformBody}, Routing: {tc.routing, tc.routingBody}} {
				rec := httptest.NewRecorder()
				rec.Header().Set("Etag", `"of another body"`)
				style.Write(rec, tc.err)
				if rec.Code != want.status {
					t.Errorf("%v: status %d, want %d", style, rec.Code, want.status)
				}
				if diff := cmp.Diff(want.body, strings.TrimSuffix(rec.Body.String(), "\n")); diff != "" {
					t.Errorf("%v: body (-want +got):\n%s", style, diff)
				}
				if got := rec.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("%v: Content-Type %q", style, got)
				}
				if rec.Header().Get("Etag") != "" {
					t.Errorf("%v: Etag survived", style)
				}
				for name, value := range tc.header {
					if got := rec.Header().Get(name); got != value {
						t.Errorf("%v: %s is %q, want %q", style, name, got, value)
					}
				}
				if want.status != http.StatusUnauthorized && want.status != http.StatusForbidden &&
					rec.Header().Get("WWW-Authenticate") != "" {
					t.Errorf("%v: challenge on status %d", style, want.status)
				}
			}
		})
	}
}

func TestParseStyle(t *testing.T) {
	for name, want := range map[string]Style{"": Platform, "platform": Platform, "routing": Routing} {
		if got, err := ParseStyle(name); err != nil || got != want {
			t.Errorf("ParseStyle(%q) = %v, %v", name, got, err)
		}
	}
	if _, err := ParseStyle("Routing"); err == nil {
		t.Error("a wrong name was taken")
	}
}
