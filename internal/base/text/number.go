// Package text parses and formats decimal numbers without allocating, and suggests corrections for misspelled words. It
// knows no formats beyond single numbers and words.
//
// Start with number.go, decimal.go and suggest.go.
package text

import (
	"math"
	"strconv"
	"unsafe"
)

// maxExact is the number of decimal digits that a float64 always represents exactly.
const maxExact = 15

var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// ScanNumber reads the number at the start of s, in JSON's grammar, with a leading + if plus is set. n is its length, 0
// if there is none. A number that is too large for a float64 is ±Inf.
func ScanNumber(s []byte, plus bool) (value float64, n int) {
	i := 0
	negative := false
	if i < len(s) && (s[i] == '-' || plus && s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	start := i
	var mantissa uint64
	for ; i < len(s) && isDigit(s[i]); i++ {
		mantissa = mantissa*10 + uint64(s[i]-'0') // an overflow is noticed by the number of digits
	}
	digits := i - start
	if digits == 0 || digits > 1 && s[start] == '0' {
		return 0, 0
	}
	fraction := 0
	if i < len(s) && s[i] == '.' {
		point := i
		for i++; i < len(s) && isDigit(s[i]); i++ {
			mantissa = mantissa*10 + uint64(s[i]-'0')
		}
		if fraction = i - point - 1; fraction == 0 {
			return 0, 0
		}
	}
	exponent := false
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		exponent = true
		if i++; i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		first := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		if i == first {
			return 0, 0
		}
	}
	if !exponent && digits+fraction <= maxExact {
		// Both operands are exact, so the quotient is the nearest float64, as of ParseFloat.
		value = float64(mantissa) / powersOfTen[fraction]
		if negative {
			value = -value
		}
		return value, i
	}
	// The string is only used for this call. The only possible error is that of the range, with the value ±Inf.
	value, _ = strconv.ParseFloat(unsafe.String(unsafe.SliceData(s), i), 64)
	return value, i
}

// ParseNumber reads a text that is only a number, with an optional leading +. ok is false for any other text, and for a
// number that is too large for a float64.
func ParseNumber(s []byte) (value float64, ok bool) {
	value, n := ScanNumber(s, true)
	return value, n > 0 && n == len(s) && !math.IsInf(value, 0)
}

func isDigit(c byte) bool { return c-'0' <= 9 }
