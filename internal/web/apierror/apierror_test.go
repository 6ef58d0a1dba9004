package apierror

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	quota := NewQuota("units-day-TILE").Exceeded(QuotaUse{1 << 53, 3, 24 * time.Hour, 61 * time.Second})
	for _, tc := range []struct {
		err      Error
		platform string // status and body
		routing  string // status, code and message
		header   string // the values of fields that not all errors have
	}{
		{FailedValidation("size: must be 1 to 5"), `400 {"error":"size: must be 1 to 5","code":"FAILED_VALIDATION"}`,
			"422 InvalidInput: size: must be 1 to 5", ""},
		{Unauthorized(false), `401 {"error":"invalid or missing api key"}`,
			"401 Not Authorized - No Token: no token was sent", "no-store Bearer"},
		{Unauthorized(true), `401 {"error":"invalid or missing api key"}`,
			"401 Not Authorized - Invalid Token: the token is invalid or has expired", `no-store Bearer error="invalid_token"`},
		{Unauthorized(true).WithDescription(""), `401 {"error":"invalid or missing api key"}`,
			"401 Not Authorized - Invalid Token: the token is invalid or has expired", `no-store Bearer error="invalid_token"`},
		{Unauthorized(true).WithDescription("why"), `401 {"error":"invalid or missing api key"}`,
			"401 Not Authorized - Invalid Token: the token is invalid or has expired",
			`no-store Bearer error="invalid_token", error_description="why"`},
		{InsufficientScope("TILE ONM"), `403 {"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`,
			"403 InsufficientScope: insufficient scope", `no-store Bearer error="insufficient_scope", scope="TILE ONM"`},
		{Forbidden("no"), `403 {"error":"no"}`, "403 Forbidden: no", "no-store"},
		{Restricted(), `403 {"error":"the token may not be used from here","code":"RESTRICTED"}`,
			"403 RESTRICTED: the token may not be used from here", "no-store"},
		{quota, `429 {"error":"the quota units-day-TILE is exceeded","code":"QUOTA_EXCEEDED"}`,
			"429 QUOTA_EXCEEDED: the quota units-day-TILE is exceeded",
			`no-store 61 "units-day-TILE";r=3;t=61 "units-day-TILE";q=999999999999999;w=86400`},
		{TooManyRequests("slow down", time.Second), `429 {"error":"slow down"}`, "429 TooManyRequests: slow down", "no-store 1"},
		{NotFound("no such account"), `404 {"error":"no such account"}`, "404 NotFound: no such account", ""},
		{NoRoute("no road"), `404 {"error":"no road"}`, "404 NoRoute: no road", ""},
		{MethodNotAllowed("GET", "HEAD"), `405 {"error":"method not allowed"}`, "405 MethodNotAllowed: method not allowed",
			"GET, HEAD"},
		{InvalidTransition("revoked <for good>"), `409 {"error":"revoked <for good>","code":"INVALID_TRANSITION"}`,
			"409 InvalidTransition: revoked <for good>", ""},
		{AccountLimit("full"), `409 {"error":"full","code":"ACCOUNT_LIMIT"}`, "409 AccountLimit: full", ""},
		{RequestTimeout(), `408 {"error":"the request body did not arrive in time"}`,
			"408 RequestTimeout: the request body did not arrive in time", "close"},
		{TooLarge(), `413 {"error":"request body too large"}`, "413 TooLarge: request body too large", ""},
		{UnsupportedMediaType("send JSON", "application/json", "text/csv"), `415 {"error":"send JSON"}`,
			"415 UnsupportedMediaType: send JSON", "application/json, text/csv"},
		{Busy(1500 * time.Millisecond), `503 {"error":"too many requests are under way"}`,
			"503 Unavailable: too many requests are under way", "no-store 2"},
		{Internal(), `500 {"error":"internal server error"}`, "500 InternalError: internal server error", ""},
		{BadGateway(), `502 {"error":"bad gateway"}`, "502 BadGateway: bad gateway", ""},
		{Unavailable(), `503 {"error":"service unavailable"}`, "503 Unavailable: service unavailable", "no-store"},
		{TooSlow(), `503 {"error":"the query takes too long"}`, "503 Unavailable: the query takes too long", "no-store"},
		{Timeout(), `504 {"error":"timeout"}`, "504 Timeout: timeout", ""},
	} {
		status, detail, _ := strings.Cut(tc.routing, " ")
		code, message, _ := strings.Cut(detail, ": ")
		routing := fmt.Sprintf(`%s {"error":{"code":"%s","message":"%s","status":%[1]s}}`, status, code, message)
		for style, want := range map[Style]string{Platform: tc.platform, Routing: routing} {
			rec := httptest.NewRecorder()
			rec.Header().Set("Etag", `"of another body"`)
			style.Write(rec, tc.err)
			if diff := cmp.Diff(want+"\n", fmt.Sprint(rec.Code, " ", rec.Body)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", style, diff)
			}
			var header []string
			for _, name := range []string{"Cache-Control", "Connection", "Www-Authenticate", "Allow", "Accept", "Retry-After", "Ratelimit",
				"Ratelimit-Policy", "Etag"} {
				header = append(header, rec.Header()[name]...)
			}
			if got := strings.Join(header, " "); got != tc.header || rec.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%v %s: header %v, want %s", style, want, rec.Header(), tc.header)
			}
		}
	}
}

func TestOAuth(t *testing.T) {
	for _, tc := range []struct {
		err       Error
		want      string
		challenge string
	}{
		{OAuthError("invalid_client", "x"), `401 {"error":"invalid_client","error_description":"x"}`, `Basic realm="caddy-maps"`},
		{OAuthError("invalid_grant", "x"), `400 {"error":"invalid_grant","error_description":"x"}`, ""},
		{TooLarge(), `413 {"error":"invalid_request","error_description":"request body too large"}`, ""},
		{MethodNotAllowed("POST"), `405 {"error":"invalid_request","error_description":"method not allowed"}`, ""},
		{Unavailable(), `503 {"error":"temporarily_unavailable","error_description":"service unavailable"}`, ""},
		{Internal(), `500 {"error":"server_error","error_description":"internal server error"}`, ""},
		{NewQuota("q").Exceeded(QuotaUse{}),
			`429 {"error":"temporarily_unavailable","error_description":"the quota q is exceeded"}`, ""},
	} {
		rec := httptest.NewRecorder()
		OAuth.Write(rec, tc.err)
		if got := fmt.Sprint(rec.Code, " ", rec.Body); got != tc.want+"\n" {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if got := rec.Header().Get("WWW-Authenticate"); got != tc.challenge {
			t.Errorf("%s: WWW-Authenticate %q", tc.want, got)
		}
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
