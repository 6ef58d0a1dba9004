package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// askAll asks both builds all questions.
func askAll(ctx context.Context, r *regions, scratch string, kinds []kind) (found []comparison, err error) {
	older, err := start(ctx, r.old, scratch)
	if err != nil {
		return nil, err
	}
	defer older.stop()
	newer, err := start(ctx, r.new, scratch)
	if err != nil {
		return nil, err
	}
	defer newer.stop()
	for _, k := range kinds {
		c, err := askKind(ctx, older, newer, k)
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

func askKind(ctx context.Context, older, newer *server, k kind) (comparison, error) {
	answers := make([]string, len(k.questions)) // how they differ
	fields := make([]string, len(k.questions))
	refused := make([]bool, len(k.questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range k.questions {
		group.Go(func() error {
			q := &k.questions[i]
			before, err := older.answer(ctx, q)
			if err != nil {
				return err
			}
			now, err := newer.answer(ctx, q)
			if err != nil {
				return err
			}
			refused[i] = bytes.HasPrefix(before, []byte(`{"error"`))
			if !bytes.Equal(before, now) {
				lines := differences(before, now)
				answers[i], fields[i] = q.name+":\n    "+strings.Join(lines, "\n    "), fieldOf(lines[0])
			}
			return nil
		})
	}
	err := group.Wait()
	c, errors := comparison{kind: k.name, compared: len(k.questions), fields: map[string]int{}}, 0
	for i, a := range answers {
		if a != "" {
			c.different = append(c.different, a)
			c.fields[fields[i]]++
		}
		if refused[i] {
			errors++
		}
	}
	if errors > 0 {
		c.note = fmt.Sprintf("; %d of OLD's answers are errors", errors)
	}
	return c, err
}

// mostLines is how many differences within one answer are told.
const mostLines = 6

// differences tells how two answers differ, a line for each value. There is at least one line.
func differences(before, now []byte) []string {
	var a, b any
	if json.Unmarshal(before, &a) != nil || json.Unmarshal(now, &b) != nil {
		return []string{fmt.Sprintf("OLD %.200s, NEW %.200s", before, now)}
	}
	lines := walk(nil, "", a, b)
	if len(lines) == 0 {
		return []string{"the same values, written otherwise"}
	}
	if len(lines) > mostLines {
		lines = append(lines[:mostLines], fmt.Sprintf("and %d more", len(lines)-mostLines))
	}
	return lines
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// fieldOf is what a line of differences says but for the values: the field, whatever its index in arrays, and in which
// of the answers it is.
func fieldOf(line string) string {
	field, rest, _ := strings.Cut(line, ": ")
	field = index.ReplaceAllString(field, "[]")
	for _, alone := range []string{" only in OLD", " only in NEW"} {
		if strings.HasSuffix(rest, alone) {
			return field + alone
		}
	}
	return field
}

// walk appends a line for each value below path that differs.
func walk(lines []string, path string, a, b any) []string {
	switch old := a.(type) {
	case map[string]any:
		now, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Sorted(maps.Keys(old))
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if _, ok := old[key]; !ok {
				keys = append(keys, key)
			}
		}
		for _, key := range keys {
			x, before := old[key]
			y, after := now[key]
			switch {
			case !after:
				lines = append(lines, fmt.Sprintf("%s.%s: %s only in OLD", path, key, brief(x)))
			case !before:
				lines = append(lines, fmt.Sprintf("%s.%s: %s only in NEW", path, key, brief(y)))
			default:
				lines = walk(lines, path+"."+key, x, y)
			}
		}
		return lines
	case []any:
		now, ok := b.([]any)
		if !ok {
			break
		}
		if len(old) != len(now) {
			lines = append(lines, fmt.Sprintf("%s: %d items, %d in NEW", path, len(old), len(now)))
		}
		for i := range min(len(old), len(now)) {
			lines = walk(lines, fmt.Sprintf("%s[%d]", path, i), old[i], now[i])
		}
		return lines
	}
	if !reflect.DeepEqual(a, b) {
		lines = append(lines, fmt.Sprintf("%s: %s, %s in NEW", path, brief(a), brief(b)))
	}
	return lines
}

// brief is the beginning of a value.
func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.120s", text)
}
