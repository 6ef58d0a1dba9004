package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/clients/go/maps"
)

// session sends requests with the access token of a service account. It renews the token a minute before it expires,
// and when it is refused: it may have been revoked, or its key replaced.
type session struct {
	client                   *maps.ClientWithResponses // without a token
	clientToken, serverToken string

	mu      sync.Mutex
	access  string
	refresh string
	renewal time.Time
}

// newClient returns a client that is authorized by the two tokens of a service account.
func newClient(site, clientToken, serverToken string) (*maps.ClientWithResponses, error) {
	plain, err := maps.NewClientWithResponses(site)
	if err != nil {
		return nil, err
	}
	s := &session{client: plain, clientToken: clientToken, serverToken: serverToken}
	return maps.NewClientWithResponses(site, maps.WithHTTPClient(s))
}

// Do sends a request, and once more where its token was refused and there is another.
func (s *session) Do(req *http.Request) (*http.Response, error) {
	token, err := s.token(req.Context(), "")
	if err != nil {
		return nil, err
	}
	resp, err := send(req, token)
	once := req.Body != nil && req.GetBody == nil // a stream, of which nothing is left
	if err != nil || resp.StatusCode != http.StatusUnauthorized || once {
		return resp, err
	}
	if token, err = s.token(req.Context(), token); err != nil {
		return resp, nil // there is none any more: the 401 is the answer
	}
	resp.Body.Close()
	return send(req, token)
}

func send(req *http.Request, token string) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		req.Body = body
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultClient.Do(req)
}

// token returns an access token other than the one that was refused.
func (s *session) token(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.access != "" && s.access != refused && time.Now().Before(s.renewal) {
		return s.access, nil
	}
	if s.refresh != "" {
		resp, err := s.client.RefreshTokenWithResponse(ctx, maps.RefreshRequest{RefreshToken: s.refresh})
		if err != nil {
			return "", err
		}
		if resp.JSON200 != nil {
			s.keep(resp.JSON200.Data)
			return s.access, nil
		}
		if resp.JSON401 == nil { // it may still be good
			return "", fmt.Errorf("renewing a token: %s: %s", resp.Status(), resp.Body)
		}
	}
	s.access, s.refresh = "", ""
	resp, err := s.client.ExchangeTokensWithResponse(ctx,
		maps.ExchangeRequest{ClientToken: s.clientToken, ServerToken: s.serverToken})
	if err != nil {
		return "", err
	}
	if resp.JSON200 == nil {
		return "", fmt.Errorf("exchanging tokens: %s: %s", resp.Status(), resp.Body)
	}
	s.keep(resp.JSON200.Data)
	return s.access, nil
}

func (s *session) keep(given maps.TokenPair) {
	lasts := time.Duration(given.ExpiresIn) * time.Second
	s.access, s.renewal = given.AccessToken, time.Now().Add(max(lasts-time.Minute, lasts/2))
	s.refresh = given.RefreshToken // with refresh_rotation, each refresh gives a new one
}
