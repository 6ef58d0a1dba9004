package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// servedOrganization has the account that `caddy maps serve` creates.
const servedOrganization = "default"

// servedAccount is the account that `caddy maps serve` has created, now or at an earlier start.
type servedAccount struct {
	account.Account
	key            string // publishable, for the map
	client, server string // tokens; empty if they were shown before
}

// prepareAccount creates the first account of a new store, with a publishable key for the pages of this server.
func (s *serve) prepareAccount(ctx context.Context) (a servedAccount, err error) {
	st, err := store.OpenSQLite(s.store(), zap.NewNop())
	if err != nil {
		return a, err
	}
	defer func() {
		if closing := st.Close(); err == nil {
			err = closing
		}
	}()
	accounts, err := st.Accounts(ctx, servedOrganization, account.Page{Limit: 1000})
	if err != nil {
		return a, err
	}
	if len(accounts) > 0 {
		a.Account = accounts[len(accounts)-1] // the oldest
	} else {
		now := st.Now().UTC()
		a.Account = account.Account{ID: credential.NewAccountID(now), OrganizationID: servedOrganization,
			Description: "the first account, of `caddy maps serve`", CreatedBy: "user:operator", Status: account.StatusActive,
			Scopes: account.Scopes{account.ScopeTile, account.ScopeDirection, account.ScopeMatrix, account.ScopeONM,
				account.ScopeTSS, account.ScopeGeocoding, account.ScopeReverseGeocoding},
			CreatedAt: now, UpdatedAt: now}
		if a.client, a.server, err = credential.NewAccountTokens(&a.Account); err != nil {
			return a, err
		}
		if err := st.CreateAccount(ctx, a.Account, 1); err != nil {
			return a, err
		}
	}
	a.key, err = s.pageKey(ctx, st, a.ID)
	return a, err
}

// pageKey returns the account's publishable key for the pages of this server, and creates it if it has none.
func (s *serve) pageKey(ctx context.Context, st *store.Store, id string) (string, error) {
	origin := s.base()
	keys, err := st.PublishableKeys(ctx, id)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		if slices.Contains(key.Origins, origin) {
			return key.Key, nil
		}
	}
	key, err := st.CreatePublishableKey(ctx, id, account.MaxPublishableKeys,
		func(acc account.Account) (key account.PublishableKey, err error) {
			key = account.PublishableKey{Description: "the map of this server", Origins: []string{origin},
				CreatedBy: "user:operator", CreatedAt: st.Now().UTC()}
			key.ID, key.Key = credential.NewPublishableKey(key.CreatedAt)
			return key, key.Grant(nil, &acc)
		})
	return key.Key, err
}

// welcome says what to open and what to ask.
func (s *serve) welcome(out io.Writer, a servedAccount, file string) error {
	base := s.base()
	var b strings.Builder
	fmt.Fprintf(&b, "\nServing until interrupted (Ctrl-C). Files are in %s.\n", s.data)
	client, server := a.client, a.server
	if client != "" {
		fmt.Fprintf(&b, "\nThe account %s has two tokens. Keep them: they are not shown again.\n"+
			"  client token  %s\n  server token  %s\n", a.ID, client, server)
	} else {
		client, server = "mpc_…", "mps_…"
		fmt.Fprintf(&b, "\nThe tokens of the account %s were shown at the first start. Another account:\n"+
			"  caddy maps accounts create --organization %s --scopes TILE,DIRECTION,MATRIX,GEOCODING,REVERSEGEOCODING\n", a.ID,
			servedOrganization)
	}
	fmt.Fprintf(&b, `
Ask: the first line exchanges the tokens for an access token of 15 minutes.
  TOKEN=$(curl -s %s/api/v1/external/auth -H 'Content-Type: application/json' \
    -d '{"client_token":"%s","server_token":"%s"}' | sed 's/.*"accessToken":"\([^"]*\).*/\1/')
`, base, client, server)
	if drive, err := sampleDrive(file); err == nil && len(drive) > 0 {
		positions := make([]string, len(drive))
		for i, p := range drive {
			positions[i] = fmt.Sprintf("{%.5f,%.5f}", p.Lat(), p.Lon())
		}
		fmt.Fprintf(&b, "  curl -s \"%s/v2/search/reverse-geocoding?lat=%.5f&lon=%.5f&apiKey=$TOKEN\"\n", base,
			drive[0].Lat(), drive[0].Lon())
		last := drive[len(drive)-1]
		fmt.Fprintf(&b, "  curl -s \"%s/api/v1/route?origin=%.5f,%.5f&destination=%.5f,%.5f\" "+
			"-H \"Authorization: Bearer $TOKEN\"\n", base, drive[0].Lat(), drive[0].Lon(), last.Lat(), last.Lon())
		fmt.Fprintf(&b, "  curl -sG \"%s/api/route/matching/?apiKey=$TOKEN\" --data-urlencode 'path=[%s]'\n", base,
			strings.Join(positions, ","))
	}
	token := ""
	if !s.guest {
		token = "#token=" + a.key
	}
	fmt.Fprintf(&b, `
Open
  start page  %s/
  map         %[1]s/playground/%[2]s
  reference   %[1]s/docs/
  console     the link that this prints: caddy maps user-token --organization %[3]s --console
`, base, token, servedOrganization)
	_, err := io.WriteString(out, b.String())
	return err
}

// sampleDrive returns positions along a named road of a region, near the middle of its roads.
func sampleDrive(file string) (drive []orb.Point, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	f, err := region.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	graph, err := roadgraph.Open(f)
	if err != nil {
		return nil, err
	}
	const shortest, longest = 200_000, 2_000_000 // millimetres
	var middle orb.Point
	var roads []uint32
	for edge := range graph.Edges() {
		e := graph.Edge(edge)
		if e.Name != 0 && e.Flags.Has(roadgraph.Forward) && e.Length > shortest && e.Length < longest {
			at := graph.At(edge, 0)
			middle[0] += at[0]
			middle[1] += at[1]
			roads = append(roads, edge)
		}
	}
	if len(roads) == 0 {
		return nil, nil
	}
	middle[0] /= float64(len(roads))
	middle[1] /= float64(len(roads))
	best := roads[0]
	for _, edge := range roads {
		if geo.Distance(graph.At(edge, 0), middle) < geo.Distance(graph.At(best, 0), middle) {
			best = edge
		}
	}
	for part := range 5 {
		drive = append(drive, graph.At(best, float64(graph.Edge(best).Length)/1000*float64(part)/4))
	}
	return drive, nil
}
