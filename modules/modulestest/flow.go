package modulestest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Account is a service account as the API shows it when it is created.
type Account struct {
	ID           string   `json:"id"`
	Organization string   `json:"organizationId"`
	Platform     string   `json:"platform"`
	IsAdmin      bool     `json:"isAdmin"`
	Description  string   `json:"description"`
	Scopes       []string `json:"scopes"`
	Status       string   `json:"status"`
	CreatedBy    string   `json:"createdBy"`
	ClientHint   string   `json:"clientTokenHint"`
	ServerHint   string   `json:"serverTokenHint"`
	CreatedAt    string   `json:"createdAt"`
	UpdatedAt    string   `json:"updatedAt"`
	ClientToken  string   `json:"clientToken"`
	ServerToken  string   `json:"serverToken"`
}

// Pair is what an exchange gives.
type Pair struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int    `json:"expiresIn"`
}

// AccountsPath is the path of the service accounts.
const AccountsPath = "/api/v1/service-accounts"

// UserToken mints a user token by the admin API.
func (s *Server) UserToken(organization string) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"organization": organization, "subject": "tester", "new": true})
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.AdminDo(http.MethodPost, "/maps/user-tokens", string(body))
	var minted struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal([]byte(a.Body), &minted); err != nil || a.Status != http.StatusCreated {
		s.t.Fatalf("minting a user token: %d %s", a.Status, a.Body)
	}
	return minted.Token
}

// CreateAccount makes an account with the given scopes, separated by spaces; more is further fields of the body, as
// JSON.
func (s *Server) CreateAccount(userToken, scopes, more string) Account {
	s.t.Helper()
	body := `{"platform":"WEB","scopes":["` + strings.ReplaceAll(scopes, " ", `","`) + `"]`
	if more != "" {
		body += "," + more
	}
	a := s.Do(http.MethodPost, AccountsPath, userToken, body+"}")
	if a.Status != http.StatusCreated {
		s.t.Fatalf("creating an account: %d %s", a.Status, a.Body)
	}
	var acc Account
	a.Data(s.t, &acc)
	return acc
}

// Exchange trades a client and a server token.
func (s *Server) Exchange(client, server string) Pair {
	s.t.Helper()
	a := s.Do(http.MethodPost, "/api/v1/external/auth", "", JSON("client_token", client, "server_token", server))
	if a.Status != http.StatusOK {
		s.t.Fatalf("exchanging tokens: %d %s", a.Status, a.Body)
	}
	var pair Pair
	a.Data(s.t, &pair)
	return pair
}

// Token makes an account with scopes and returns an access token of it.
func (s *Server) Token(organization, scopes string) (Account, string) {
	s.t.Helper()
	acc := s.CreateAccount(s.UserToken(organization), scopes, "")
	return acc, s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
}

// Usage returns what an account has used this month, by scope.
func (s *Server) Usage(userToken, id string) map[string]account.Usage {
	s.t.Helper()
	a := s.Do(http.MethodGet, AccountsPath+"/usage?step=month&account="+id, userToken, "")
	if a.Status != http.StatusOK {
		s.t.Fatalf("asking for usage: %d %s", a.Status, a.Body)
	}
	var rows []struct {
		Scope string
		account.Usage
	}
	a.Data(s.t, &rows)
	used := make(map[string]account.Usage, len(rows))
	for _, row := range rows {
		used[row.Scope] = row.Usage
	}
	return used
}

// JSON makes an object of names and values in turn.
func JSON(pairs ...string) string {
	object := make(map[string]string, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		object[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // only strings
	}
	return string(text)
}
