package access_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// plan is what an account may use, and from where.
type plan struct {
	Quotas       []account.Quota      `json:"quotas"`
	Restrictions account.Restrictions `json:"restrictions"`
	UpdatedAt    string               `json:"updatedAt,omitempty"`
}

const noPlan = `{"quotas":[],"restrictions":{"origins":[],"networks":[]}}`

func planOf(t *testing.T, s *modulestest.Server, token, id string) (p plan) {
	t.Helper()
	s.Do(http.MethodGet, path+"/"+id, token, "").Data(t, &p)
	return p
}

func (p plan) String() string {
	p.UpdatedAt = ""
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // only texts and numbers
	}
	return string(text)
}

// TestPlans sets quotas and restrictions, replaces and removes them.
func TestPlans(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user := s.UserToken("acme")
	const (
		day    = `{"scope":"*","unit":"requests","window":"day","limit":1000}`
		month  = `{"scope":"TILE","unit":"units","window":"month","limit":0}`
		quotas = `"quotas":[` + day + `,` + month + `]`
		places = `"restrictions":{"origins":["https://app.example.com"],"networks":["203.0.113.0/24"]}`
	)
	acc := s.CreateAccount(user, "TILE", quotas+","+places)
	if got, want := planOf(t, s, user, acc.ID).String(), "{"+quotas+","+places+"}"; got != want {
		t.Errorf("created: got %s, want %s", got, want)
	}
	plain := s.CreateAccount(user, "TILE", "")
	if a := s.Do(http.MethodGet, path+"/"+plain.ID, user, ""); !strings.Contains(a.Body, noPlan[1:]) {
		t.Errorf("without a plan: %s", a.Body)
	}
	for _, step := range []struct{ body, want, changed string }{ // changed is as the log has it
		{`{` + quotas + `,` + places + `}`, `{` + quotas + `,` + places + `}`, ""},
		{`{"quotas":[` + month + `,` + day + `]}`, `{"quotas":[` + month + `,` + day + `],` + places + `}`, `["quotas"]`},
		{`{"quotas":[` + day + `]}`, `{"quotas":[` + day + `],` + places + `}`, `["quotas"]`},
		{`{"restrictions":{"networks":["203.0.113.0/24"]}}`,
			`{"quotas":[` + day + `],"restrictions":{"origins":[],"networks":["203.0.113.0/24"]}}`, `["restrictions"]`},
		{`{"quotas":[],"restrictions":{}}`, noPlan, `["quotas","restrictions"]`},
		{`{"restrictions":{"origins":[],"networks":[]},"quotas":[]}`, noPlan, ""},
	} {
		before, logged := planOf(t, s, user, acc.ID), len(s.Log())
		if a := s.Do(http.MethodPatch, path+"/"+acc.ID, user, step.body); a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", step.body, a.Status, a.Body)
		}
		after := planOf(t, s, user, acc.ID)
		if after.String() != step.want {
			t.Errorf("%s: got %s, want %s", step.body, after, step.want)
		}
		if (after.UpdatedAt != before.UpdatedAt) != (step.changed != "") {
			t.Errorf("%s: updatedAt %s, before %s", step.body, after.UpdatedAt, before.UpdatedAt)
		}
		if step.changed != "" && !strings.Contains(s.Log()[logged:], `"changed":`+step.changed) {
			t.Errorf("%s: the log lacks %s", step.body, step.changed)
		}
	}
}
