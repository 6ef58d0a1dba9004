package routing

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Speeds are speeds of OpenStreetMap ways for cars that replace those of the map, by way id: along the way and against
// it.
type Speeds map[int64][2]Speed

// Speed is a speed in km/h. 0 closes the road. Unchanged keeps what the map says.
type Speed float32

// Unchanged is no speed.
const Unchanged Speed = -1

const maxSpeed = 250 // km/h

// ReadSpeeds reads lines of `way,forward,backward`, with speeds in km/h from 0, which closes the road, to 250. An empty
// speed, and a third one that is missing, change nothing. A first line that begins with "way" is a header. Later lines
// override earlier ones. The error names the line.
func ReadSpeeds(from io.Reader) (Speeds, error) {
	r := csv.NewReader(from)
	r.FieldsPerRecord, r.ReuseRecord, r.TrimLeadingSpace, r.Comment = -1, true, true, '#'
	speeds := Speeds{}
	for first := true; ; first = false {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return speeds, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		way, err := strconv.ParseInt(strings.TrimSpace(fields[0]), 10, 64)
		switch {
		case err != nil && first && strings.EqualFold(strings.TrimSpace(fields[0]), "way"):
			continue
		case err != nil:
			return nil, fmt.Errorf("line %d: %.40q is not the id of a way", line, fields[0])
		case len(fields) < 2 || len(fields) > 3:
			return nil, fmt.Errorf("line %d: %d fields, not way,forward,backward", line, len(fields))
		}
		both := [2]Speed{Unchanged, Unchanged}
		for i, field := range fields[1:] {
			if field = strings.TrimSpace(field); field == "" {
				continue
			}
			v, err := strconv.ParseFloat(field, 32)
			if err != nil || !(v >= 0 && v <= maxSpeed) {
				return nil, fmt.Errorf("line %d: %.40q is not a speed from 0 to %d km/h", line, field, maxSpeed)
			}
			both[i] = Speed(v)
		}
		speeds[way] = both
	}
}

// SetSpeeds replaces all live speeds of the region. It returns when routes use them. Requests meanwhile use the ones
// before.
func (e *Engine) SetSpeeds(ctx context.Context, speeds Speeds) (err error) {
	defer region.Recover(&err, region.FaultsPanic())
	if !e.file.Acquire() {
		return nil
	}
	defer e.file.Release()
	n, err := e.network(region.Car)
	if n == nil || err != nil {
		return err
	}
	n.changing.Lock()
	defer n.changing.Unlock()
	next := &live{speeds: speeds}
	if len(speeds) == 0 {
		next.standard = n.stored()
	} else {
		model := NewModel(Costs{})
		model.speeds = speeds
		m, err := Customize(ctx, n.Overlay, model)
		if err != nil {
			return err
		}
		next.standard = newMetric(n.Overlay, fullMatrices{m}, model)
	}
	n.live.Store(next)
	return nil
}
