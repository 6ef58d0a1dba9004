package app

import (
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Usage configures how usage statistics are written and how long they are kept. Months are kept for ever.
type Usage struct {
	// How often counts are written, 1 second to 1 minute: what a kill may lose. Every second from 80% of an
	// organization's quota. Default: 10 seconds.
	Flush caddy.Duration `json:"flush,omitempty"`

	// How long hours are kept, at least 25 hours. Default: 35 days.
	Hours caddy.Duration `json:"hours,omitempty"`

	// How long days are kept, at least 32 days. Default: 400 days.
	Days caddy.Duration `json:"days,omitempty"`
}

// The minimum always covers the last day by hour and the last month by day.
const (
	minUsageHours = 25 * time.Hour
	minUsageDays  = 32 * 24 * time.Hour

	minUsageFlush = time.Second
	maxUsageFlush = time.Minute
)

// settings returns the configured values or the defaults. u may be nil.
func (u *Usage) settings() (keep usage.Retention, flush time.Duration, err error) {
	keep, flush = usage.DefaultRetention, usage.DefaultFlush
	if u == nil {
		return keep, flush, nil
	}
	for _, option := range []struct {
		name        string
		given       caddy.Duration
		least, most time.Duration
		value       *time.Duration
	}{
		{"flush", u.Flush, minUsageFlush, maxUsageFlush, &flush},
		{"hours", u.Hours, minUsageHours, 0, &keep.Hours},
		{"days", u.Days, minUsageDays, 0, &keep.Days},
	} {
		if option.given == 0 {
			continue
		}
		switch *option.value = time.Duration(option.given); {
		case *option.value < option.least:
			err = options.Errorf(option.name, "%s is less than %s", options.FormatDuration(*option.value),
				options.FormatDuration(option.least))
		case option.most != 0 && *option.value > option.most:
			err = options.Errorf(option.name, "%s is more than %s", options.FormatDuration(*option.value),
				options.FormatDuration(option.most))
		}
		if err != nil {
			break
		}
	}
	return keep, flush, err
}

func (u *Usage) unmarshal(d *caddyfile.Dispenser) error {
	check := func() error {
		_, _, err := u.settings()
		return err
	}
	return options.Block(d, "usage", check,
		options.Option{Name: "flush", Args: "<duration>", Read: options.Duration(&u.Flush)},
		options.Option{Name: "hours", Args: "<duration>", Read: options.Duration(&u.Hours)},
		options.Option{Name: "days", Args: "<duration>", Read: options.Duration(&u.Days)},
	)
}
