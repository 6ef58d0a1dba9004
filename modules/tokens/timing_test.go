package tokens_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"

	_ "github.com/mapsedge/caddy-maps/modules/pgstore"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestRefusalsAlike: neither the answer of a refused exchange nor its time tells which token was wrong, or why.
func TestRefusalsAlike(t *testing.T) {
	t.Run("bolt", func(t *testing.T) { refusalsAlike(t, "") })
	t.Run("postgres", func(t *testing.T) {
		t.Setenv("MAPS_TEST_TIMING", pgtest.DSN(t))
		refusalsAlike(t, "store postgres {env.MAPS_TEST_TIMING}")
	})
}

func refusalsAlike(t *testing.T, store string) {
	s := mapstest.Start(t, mapstest.Config{Site: site(""), Maps: store, Level: "INFO"})
	user := s.UserToken("acme")
	good, suspended, other := s.CreateAccount(user, "TILE", ""), s.CreateAccount(user, "TILE", ""),
		s.CreateAccount(s.UserToken("globex"), "TILE", "")
	// Tokens of the right form that nobody has any more.
	deleted := s.CreateAccount(user, "TILE", "")
	s.Do(http.MethodDelete, mapstest.AccountsPath+"/"+deleted.ID, user, "")
	s.Do(http.MethodPatch, mapstest.AccountsPath+"/"+suspended.ID, user, `{"status":"SUSPENDED"}`)
	exchange := func(name, client, server string) mapstest.Timed {
		return mapstest.Timed{Name: name, Method: http.MethodPost, Target: authPath,
			Body: mapstest.JSON("client_token", client, "server_token", server)}
	}
	s.Alike(http.StatusUnauthorized,
		exchange("unknown client", deleted.ClientToken, good.ServerToken),
		exchange("wrong server", good.ClientToken, deleted.ServerToken),
		exchange("both unknown", deleted.ClientToken, deleted.ServerToken),
		exchange("other organization", good.ClientToken, other.ServerToken),
		exchange("suspended client", suspended.ClientToken, good.ServerToken),
		exchange("suspended server", good.ClientToken, suspended.ServerToken),
	)
}
