package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// credentials is what credentials.json holds: all that is needed to call the service.
type credentials struct {
	BaseURL      string `json:"baseUrl"`
	UserToken    string `json:"userToken"`
	ClientToken  string `json:"clientToken"`
	ServerToken  string `json:"serverToken"`
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
}

// organization has the account of the demo.
const organization = "demo"

// obtainCredentials goes the way of a new customer: a user token from the operator, a service account made with it, and
// the exchange of the account's two tokens.
func obtainCredentials(ctx context.Context, s settings) (credentials, error) {
	creds := credentials{BaseURL: s.baseURL()}
	var user struct {
		Token string `json:"token"`
	}
	err := post(ctx, "http://"+s.admin+"/maps/user-tokens", "",
		map[string]any{"organization": organization, "subject": "make-demo", "ttl": "24h", "new": true}, &user)
	if err != nil {
		return creds, err
	}
	creds.UserToken = user.Token

	var account struct {
		Data struct {
			ClientToken string `json:"clientToken"`
			ServerToken string `json:"serverToken"`
		} `json:"data"`
	}
	err = post(ctx, s.baseURL()+"/api/v1/service-accounts", creds.UserToken, map[string]any{
		"platform": "WEB", "description": "make demo",
		"scopes": []string{"TILE", "DIRECTION", "GEOCODING", "REVERSEGEOCODING"},
	}, &account)
	if err != nil {
		return creds, err
	}
	creds.ClientToken, creds.ServerToken = account.Data.ClientToken, account.Data.ServerToken

	var tokens struct {
		Data struct {
			AccessToken  string `json:"accessToken"`
			RefreshToken string `json:"refreshToken"`
		} `json:"data"`
	}
	err = post(ctx, s.baseURL()+"/api/v1/external/auth", "",
		map[string]any{"client_token": creds.ClientToken, "server_token": creds.ServerToken}, &tokens)
	if err != nil {
		return creds, err
	}
	creds.AccessToken, creds.RefreshToken = tokens.Data.AccessToken, tokens.Data.RefreshToken
	return creds, nil
}

func post(ctx context.Context, url, bearer string, body, into any) error {
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("POST %s: %s: %s", url, resp.Status, answer)
	}
	return json.Unmarshal(answer, into)
}

// unfinished is how the names of credentials begin that are being written.
const unfinished = ".credentials-"

// removeCredentials removes those of an earlier run, and what one that was killed has left of them.
func removeCredentials(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name == filepath.Base(path) || strings.HasPrefix(name, unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, name)))
		}
	}
	return err
}

// writeCredentials puts the file in place in one step, so that a reader never sees half of it.
func writeCredentials(path string, creds credentials) error {
	data, err := json.MarshalIndent(creds, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
