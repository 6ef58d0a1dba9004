package options

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// Reader reads the arguments of an option.
type Reader = func(d *caddyfile.Dispenser) error

// Text reads one argument that is not empty.
func Text(value *string) Reader {
	return one(func(text string) error {
		*value = text
		if text == "" {
			return errors.New("the value is empty")
		}
		return nil
	})
}

// Word reads one argument that is one of the known words.
func Word(value *string, known ...string) Reader {
	return one(func(text string) error {
		*value = text
		return OneOf(text, known...)
	})
}

// OneOf checks that a word is known. An empty word means the default.
func OneOf(given string, known ...string) error {
	for _, word := range append(known, "") {
		if given == word {
			return nil
		}
	}
	return fmt.Errorf("%q is not known; %s", given, text.DidYouMean(given, known))
}

// Words reads at least one argument, and appends all to values.
func Words(values *[]string) Reader {
	return func(d *caddyfile.Dispenser) error {
		more := d.RemainingArgs()
		if len(more) == 0 {
			return ErrCount
		}
		*values = append(*values, more...)
		return nil
	}
}

// Flag reads an option without arguments that turns something on.
func Flag(value *bool) Reader {
	return func(*caddyfile.Dispenser) error {
		*value = true
		return nil
	}
}

// OnOff reads `on` or `off`.
func OnOff(value **bool) Reader {
	return one(func(text string) error {
		if text != "on" && text != "off" {
			return fmt.Errorf("it is on or off, not %s", text)
		}
		*value = new(text == "on")
		return nil
	})
}

// Duration reads a positive duration, such as 15m or 30d.
func Duration(value *caddy.Duration) Reader {
	return one(func(text string) error {
		parsed, err := caddy.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration, such as 90s, 15m, 12h or 30d", text)
		}
		if parsed <= 0 {
			return fmt.Errorf("a duration must be positive, not %s", text)
		}
		*value = caddy.Duration(parsed)
		return nil
	})
}

// FormatDuration formats a duration as in a Caddyfile: 24h rather than 24h0m0s.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Size reads a positive number of bytes, such as 256MiB.
func Size(bytes *int64) Reader {
	return one(func(text string) error {
		parsed, err := humanize.ParseBytes(text)
		if err != nil || parsed == 0 || parsed > math.MaxInt64 {
			return fmt.Errorf("%q is not a positive size, such as 256MiB", text)
		}
		*bytes = int64(parsed)
		return nil
	})
}

// Number reads a positive whole number.
func Number(value *int) Reader {
	return one(func(text string) error {
		parsed, err := strconv.Atoi(text)
		if err != nil || parsed <= 0 {
			return fmt.Errorf("%q is not a positive whole number", text)
		}
		*value = parsed
		return nil
	})
}

// Metres reads a positive number of metres.
func Metres(value *float64) Reader {
	return one(func(text string) error {
		parsed, err := strconv.ParseFloat(text, 64)
		if err != nil || !(parsed > 0) {
			return fmt.Errorf("%q is not a positive number of metres", text)
		}
		*value = parsed
		return nil
	})
}

// Path reads the path of an endpoint.
func Path(value *string) Reader {
	return one(func(text string) error {
		*value = text
		_, err := request.ParsePrefix(text)
		return err
	})
}

func one(read func(text string) error) Reader {
	return func(d *caddyfile.Dispenser) error {
		var text string
		if !d.AllArgs(&text) {
			return ErrCount
		}
		return read(text)
	}
}
