package request

import "strings"

// redacted replaces tokens in logs.
const redacted = "REDACTED"

// RedactParameter replaces the value of a query parameter everywhere in a text, such as a URL, a part of one, or a
// malformed one. It redacts too much rather than too little: the name and the = may be percent-encoded or have another
// case, a name that ends with that of the parameter counts, too, and a value ends only at an ampersand. It returns the
// text itself, without an allocation, if the parameter is not in it.
func RedactParameter(text, parameter string) string {
	if parameter == "" {
		return text
	}
	var out strings.Builder
	kept := 0 // how much of the text is in out, or has been replaced there
	for at := 0; at < len(text); {
		name := nameAt(text[at:], parameter)
		if name == 0 {
			at++
			continue
		}
		at += name
		if out.Len() == 0 {
			out.Grow(len(text) + len(redacted))
		}
		out.WriteString(text[kept:at])
		value := len(text)
		if n := strings.IndexByte(text[at:], '&'); n >= 0 {
			value = at + n
		}
		if value > at {
			out.WriteString(redacted)
			at = value
		}
		kept = at
	}
	if kept == 0 {
		return text
	}
	out.WriteString(text[kept:])
	return out.String()
}

// nameAt returns the length of the parameter's name and equals sign at the start of a text, or 0.
func nameAt(text, parameter string) int {
	at := 0
	for i := 0; i <= len(parameter); i++ {
		want := byte('=')
		if i < len(parameter) {
			want = parameter[i]
		}
		switch {
		case at == len(text):
			return 0
		case lower(text[at]) == lower(want) || text[at] == '+' && want == ' ':
			at++
		case text[at] == '%' && at+2 < len(text) && lower(unhex(text[at+1])<<4|unhex(text[at+2])) == lower(want):
			at += encoded
		default:
			return 0
		}
	}
	return at
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
