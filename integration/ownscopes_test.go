package integration

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// ordersAPI puts an existing API behind two scopes of its operator: ten lines, and three that end blocks.
const ordersAPI = `{
	maps {
		scope ORDERS "orders of the shop"
		scope INVOICES "invoices of the shop"
	}
}
http://127.0.0.1:%s {
	maps_tokens /api/v1/external/*
	maps_accounts /api/v1/service-accounts*
	maps_auth /orders* ORDERS
	maps_auth /invoices* INVOICES
	reverse_proxy %s
}
`

// An API that knows nothing of tokens is guarded by scopes of its own, which accounts, tokens and usage know.
func TestOwnScopes(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(ordersAPI, "\n") - strings.Count(ordersAPI, "}\n"); lines != 10 {
		t.Errorf("the Caddyfile has %d lines", lines)
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path+strings.Join(r.Header["Authorization"], " "))
	}))
	t.Cleanup(upstream.Close)
	s := newServer(t)
	s.env = []string{"CADDY_ADMIN=" + s.admin}
	text := fmt.Sprintf(ordersAPI, s.port, strings.TrimPrefix(upstream.URL, "http://"))
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t)

	user := s.userToken(t, "shop")
	acc := s.create(t, user, map[string]any{"platform": "", "scopes": []string{"ORDERS"}, "quotas": []map[string]any{
		{"scope": "ORDERS", "unit": "requests", "window": "month", "limit": 1}}})
	if acc.Platform != "" || strings.Join(acc.Scopes, " ") != "ORDERS" {
		t.Errorf("created %+v", acc)
	}
	token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for _, tc := range []struct {
		path, token string
		status      int
		body        string
	}{
		{"/orders/7", token, 200, "/orders/7"},
		{"/orders/7", "", 401, `{"error":"invalid or missing api key"}`},
		{"/invoices/7", token, 403, `{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`},
		{"/orders/8", token, 429, `{"error":"the quota requests-month-ORDERS is exceeded","code":"QUOTA_EXCEEDED"}`},
	} {
		a := s.send(t, call{path: tc.path, bearer: tc.token}).want(tc.status)
		if strings.TrimSpace(string(a.body)) != tc.body {
			t.Errorf("%s: %s, want %s", tc.path, a.body, tc.body)
		}
	}
	if used := s.used(t, user, acc)["ORDERS"]; used.Requests != 1 || used.Refused != 1 {
		t.Errorf("used: %+v", used)
	}
	if out, err := s.command(t.Context(), "adapt", "--config", s.config).CombinedOutput(); err != nil {
		t.Errorf("adapt: %v: %s", err, out)
	}
	wrong := strings.Replace(text, "INVOICES\n", "INVOICE\n", 1)
	if err := os.WriteFile(s.config, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := s.command(t.Context(), "validate", "--config", s.config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `unknown scope \"INVOICE\": did you mean INVOICES?`) &&
		!strings.Contains(string(out), `unknown scope "INVOICE": did you mean INVOICES?`) ||
		!strings.Contains(string(out), "Caddyfile:11") {
		t.Errorf("a misspelt scope: %v: %s", err, out)
	}
}
