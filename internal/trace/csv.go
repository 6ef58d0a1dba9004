package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// ParseCSV reads comma-separated values (RFC 4180): a header that names the columns, then a row for each point.
//
//   - lat, lng (or lon): required, in degrees
//   - time: RFC 3339 or Unix seconds
//   - accuracy: standard deviation in metres
//
// Columns may come in any order and case; others are ignored. An empty or missing cell of time or accuracy means
// unknown. Rows of empty cells are ignored. The points are appended to dst[:0]; reading stops at the first point beyond
// max. The error is an *InputError that names line and column, or that of meter, which may be nil.
func ParseCSV(dst []Point, body []byte, max int, meter Meter) ([]Point, error) {
	guard := &csvGuard{rest: withoutBOM(body), meter: meter, line: 1}
	t := table{reader: csv.NewReader(guard), points: collector{points: dst[:0], max: max, name: "csv"}}
	t.reader.FieldsPerRecord = -1 // rows may be shorter
	t.reader.ReuseRecord = true
	t.reader.TrimLeadingSpace = true
	for t.points.err == nil {
		cells, err := t.reader.Read()
		if err == io.EOF {
			break
		}
		switch {
		case guard.stopped != nil:
			return nil, guard.stopped
		case err != nil:
			t.points.fail(-1, csvProblem(err))
		case t.columns == 0:
			t.header(cells)
		default:
			t.row(cells)
		}
	}
	if t.columns == 0 && t.points.err == nil {
		t.points.fail(-1, "a header and rows are needed, and it is empty")
	}
	return t.points.finish()
}

// csvProblem describes an error of encoding/csv and its place.
func csvProblem(err error) string {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Sprintf("line %d, character %d: %v", parse.Line, parse.Column, parse.Err)
	}
	return err.Error()
}

// table is a CSV document being read.
type table struct {
	reader  *csv.Reader
	points  collector
	columns int               // of the header; 0 before it
	at      [cellKinds]int    // the column of each kind of cell, from 0; -1 where there is none
	names   [cellKinds]string // as the header has them
}

// The kinds of cells.
const (
	latCell = iota
	lonCell
	timeCell
	accuracyCell
	cellKinds
)

// maxShown limits how much of a wrong cell or name an error shows, in bytes.
const maxShown = 20

func (t *table) header(cells []string) {
	t.columns, t.at = len(cells), [cellKinds]int{-1, -1, -1, -1}
	for i, cell := range cells {
		var kind int
		switch strings.ToLower(strings.TrimSpace(cell)) {
		case "lat":
			kind = latCell
		case "lng", "lon":
			kind = lonCell
		case "time":
			kind = timeCell
		case "accuracy":
			kind = accuracyCell
		default:
			continue
		}
		if t.at[kind] >= 0 {
			line, _ := t.reader.FieldPos(i)
			t.points.fail(-1, fmt.Sprintf("line %d: the header names %s and %s, which are the same",
				line, t.names[kind], strings.TrimSpace(cell)))
			return
		}
		t.at[kind], t.names[kind] = i, strings.TrimSpace(cell)
	}
	switch {
	case t.at[latCell] < 0:
		t.points.fail(-1, "the header has no column lat")
	case t.at[lonCell] < 0:
		t.points.fail(-1, "the header has no column lng or lon")
	}
}

func (t *table) row(cells []string) {
	if !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
		return // spreadsheets leave empty rows after a table
	}
	for i := t.columns; i < len(cells); i++ {
		if strings.TrimSpace(cells[i]) != "" {
			line, _ := t.reader.FieldPos(i)
			t.points.fail(len(t.points.points), fmt.Sprintf("line %d: %d cells for %d columns", line, len(cells), t.columns))
			return
		}
	}
	if !t.points.room() {
		return
	}
	p := At(math.NaN(), math.NaN())
	for kind, value := range [cellKinds]*float64{&p.Location[1], &p.Location[0], &p.Time, &p.Accuracy} {
		text := ""
		if at := t.at[kind]; at >= 0 && at < len(cells) {
			text = strings.TrimSpace(cells[at])
		}
		var problem string
		if *value, problem = readCell(kind, text); problem != "" {
			line, _ := t.reader.FieldPos(min(t.at[kind], len(cells)-1))
			t.points.fail(len(t.points.points), fmt.Sprintf("line %d, column %s: %s", line, t.names[kind], problem))
			return
		}
	}
	t.points.add(p)
}

// readCell reads a trimmed cell; NaN if it is empty and optional.
func readCell(kind int, text string) (value float64, problem string) {
	if text == "" {
		if kind == latCell || kind == lonCell {
			return 0, "is missing"
		}
		return math.NaN(), ""
	}
	value, number := parseDecimal(text)
	switch kind {
	case timeCell:
		var at time.Time
		switch {
		case number && value >= firstSecond && value <= lastSecond:
			return value, ""
		case number:
			return 0, "time " + shortest(value) + " is not in Unix seconds"
		case len(text) > maxTimeText || at.UnmarshalText([]byte(text)) != nil:
			return 0, fmt.Sprintf("time %.*q is neither RFC 3339 nor Unix seconds", maxShown, text)
		}
		return unixSeconds(at), ""
	case accuracyCell:
		if !number || !(value > 0) {
			return 0, fmt.Sprintf("accuracy %.*q is not a positive number of metres", maxShown, text)
		}
		return value, ""
	case latCell:
		if number {
			return value, outside(value, 0)
		}
	case lonCell:
		if number {
			return value, outside(0, value)
		}
	}
	return 0, fmt.Sprintf("%.*q is not a number", maxShown, text)
}
