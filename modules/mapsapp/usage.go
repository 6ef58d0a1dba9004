package mapsapp

import (
	"context"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Usage says for how long it is kept what accounts used, by hour and by day; months are kept for ever.
type Usage struct {
	// For how long hours are kept after they are over, at least 25 hours. Default: 35 days.
	Hours caddy.Duration `json:"hours,omitempty"`

	// For how long days are kept after they are over, at least 32 days. Default: 400 days.
	Days caddy.Duration `json:"days,omitempty"`
}

// The shortest that hours and days may be kept: the last day by hour and the last month by day can always be seen.
const (
	minUsageHours = 25 * time.Hour
	minUsageDays  = 32 * 24 * time.Hour
)

// retention returns what is configured, or the default where it is not. u may be nil.
func (u *Usage) retention() (usage.Retention, error) {
	keep := usage.DefaultRetention
	if u == nil {
		return keep, nil
	}
	for _, option := range []struct {
		name  string
		given caddy.Duration
		least time.Duration
		value *time.Duration
	}{
		{"hours", u.Hours, minUsageHours, &keep.Hours},
		{"days", u.Days, minUsageDays, &keep.Days},
	} {
		if option.given == 0 {
			continue
		}
		if *option.value = time.Duration(option.given); *option.value < option.least {
			return keep, options.Wrong(option.name, "%s is less than %s", options.Span(*option.value),
				options.Span(option.least))
		}
	}
	return keep, nil
}

func (u *Usage) unmarshal(d *caddyfile.Dispenser) error {
	check := func() error {
		_, err := u.retention()
		return err
	}
	return options.Block(d, "usage", check,
		options.Option{Name: "hours", Takes: "<duration>", Read: options.Duration(&u.Hours)},
		options.Option{Name: "days", Takes: "<duration>", Read: options.Duration(&u.Days)},
	)
}

// lastFlushLimit is how long a store may take for the last counts before it is closed.
const lastFlushLimit = 5 * time.Second

// flushUsage hands over what was counted, when there may be no later moment to do so. Should there be one, what the log
// says of the same counts is not said again.
func (s *openStore) flushUsage() {
	ctx, cancel := context.WithTimeout(context.Background(), lastFlushLimit)
	defer cancel()
	err := s.meter.Flush(ctx)
	if err == nil {
		return
	}
	if requests := s.meter.Pending(); s.unwritten.Swap(requests) != requests {
		s.logger.Error("the store did not take what was counted last: that usage is lost when this process ends",
			zap.Int64("requests", requests), zap.Error(err))
	}
}

// quotaReached tells the operator that a quota was used to a level, once for all that share the store.
func (s *openStore) quotaReached(r usage.Reached) {
	kind := "warned"
	if r.Level >= 100 {
		kind = "reached"
	}
	start := time.Unix(r.Start, 0).UTC().Format(time.RFC3339)
	end := r.End.UTC().Format(time.RFC3339)
	s.logger.Warn("quota "+kind,
		zap.String("account_id", r.Account),
		zap.String("organization", r.Organization),
		zap.Stringer("quota", r.Quota),
		zap.Int64("used", r.Used),
		zap.String("resets_at", end))
	s.shared.events.put(event{logger: s.logger, name: "maps.quota." + kind, data: map[string]any{
		"account_id":   r.Account,
		"organization": r.Organization,
		"scope":        r.Quota.Scope,
		"unit":         string(r.Quota.Unit),
		"window":       string(r.Quota.Window),
		"limit":        r.Quota.Limit,
		"used":         r.Used,
		"window_start": start,
		"resets_at":    end,
	}})
}

// longestUsageWait is that of the store which has taken no counts for longest; during a reload there may be two.
func longestUsageWait() float64 {
	var longest time.Duration
	stores.Range(func(_, value any) bool {
		longest = max(longest, value.(*openStore).meter.Waiting())
		return true
	})
	return longest.Seconds()
}
