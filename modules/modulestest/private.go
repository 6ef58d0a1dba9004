package modulestest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// CheckPrivate checks that a request to an upstream tells it of its client no more than the account, in the header
// X-Account, which the test's site adds.
func (u *Upstream) CheckPrivate(t *testing.T, r *http.Request, account, token string) {
	t.Helper()
	if got := r.Header.Get("X-Account"); got != account {
		t.Errorf("account %q, want %q", got, account)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-For", "X-Forwarded-Host"} {
		if got := r.Header.Get(name); got != "" {
			t.Errorf("%s: %s was sent", name, got)
		}
	}
	if strings.Contains(fmt.Sprint(r.Header), token) {
		t.Error("the token was sent")
	}
	if r.Host != u.Listener.Addr().String() {
		t.Errorf("Host: %s", r.Host)
	}
}
