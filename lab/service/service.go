// Package service is a matcher that asks the API of a running server, so that any engine behind it can be evaluated. It
// starts no server. Start with New.
package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
)

// Matcher asks the map matching endpoint of a server.
type Matcher struct {
	url    string
	client http.Client
}

// New returns a matcher that asks the endpoint at a URL, which holds all that a request needs but the trace.
func New(url string) *Matcher {
	return &Matcher{url: url, client: http.Client{Timeout: time.Minute}}
}

type question struct {
	Path    []position `json:"path"`
	Radius  float64    `json:"radius,omitempty"`
	Details bool       `json:"details"`
	Profile string     `json:"profile,omitempty"`
}

type position struct {
	Lat  float64  `json:"lat"`
	Lng  float64  `json:"lng"`
	Time *float64 `json:"time,omitempty"`
}

type answer struct {
	Coordinates [][2]float64
	Distance    float64
	Confidence  *float64
	Duration    float64
	Tracepoints []struct{ Matched bool }
	Error       struct{ Code, Message string }
}

// Match implements matching.Matcher. Of the tracepoints it knows only which are matched.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	q := question{Radius: req.Radius, Details: true, Profile: req.Profile.String()}
	for i := range req.Points {
		p := &req.Points[i]
		at := position{Lat: p.Location.Lat(), Lng: p.Location.Lon()}
		if !math.IsNaN(p.Time) {
			at.Time = &p.Time
		}
		q.Path = append(q.Path, at)
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	a, err := m.post(ctx, body)
	if err != nil {
		return nil, err
	}
	r := &matching.Result{Distance: a.Distance, Duration: a.Duration, Confidence: math.NaN()}
	for _, c := range a.Coordinates {
		r.Path = append(r.Path, orb.Point{c[1], c[0]})
	}
	if a.Confidence != nil {
		r.Confidence = *a.Confidence
	}
	for _, p := range a.Tracepoints {
		r.Tracepoints = append(r.Tracepoints, matching.Tracepoint{Matched: p.Matched})
	}
	return r, nil
}

func (m *Matcher) post(ctx context.Context, body []byte) (*answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	response, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	a := new(answer)
	if err := json.Unmarshal(text, a); err != nil {
		return nil, fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	switch {
	case response.StatusCode == http.StatusOK:
		return a, nil
	case a.Error.Code == "NoRoute":
		return nil, matching.ErrNoRoute
	}
	return nil, fmt.Errorf("status %d: %s: %s", response.StatusCode, a.Error.Code, a.Error.Message)
}
