package main

import "strings"

// wildcard matches anything within a line, and any number of lines if it is the whole line.
const wildcard = "…"

// matches reports whether the lines of an output are those that a document shows.
func matches(shown, printed []string) bool {
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if shown[0] == wildcard {
		for skipped := 0; skipped <= len(printed); skipped++ {
			if matches(shown[1:], printed[skipped:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && lineMatches(shown[0], printed[0]) && matches(shown[1:], printed[1:])
}

func lineMatches(shown, printed string) bool {
	parts := strings.Split(shown, wildcard)
	rest, ok := strings.CutPrefix(printed, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// outputLines are the lines of an output without empty ones at its end.
func outputLines(output string) []string {
	output = strings.TrimRight(output, " \n")
	if output == "" {
		return nil
	}
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \r")
	}
	return lines
}
