package text

import (
	"math"
	"strconv"
)

// pairs are the numbers 00 to 99, two digits each.
const pairs = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// AppendFixed appends a finite number with a fixed number of decimals, 0 to 9, rounded to the nearest. Zero has no
// sign.
func AppendFixed(dst []byte, value float64, decimals int) []byte {
	scaled := math.Abs(value) * powersOfTen[decimals]
	if scaled >= 1<<52 {
		return strconv.AppendFloat(dst, value, 'f', decimals, 64)
	}
	n := uint64(scaled + 0.5)
	// Written from the end, two digits at a time.
	const longest = 17 // 16 digits and the point
	var text [longest]byte
	at := longest
	for ; decimals > 1; decimals -= 2 {
		at -= 2
		copy(text[at:], pairs[2*(n%100):][:2])
		n /= 100
	}
	if decimals == 1 {
		at--
		text[at] = '0' + byte(n%10)
		n /= 10
	}
	if at < longest {
		at--
		text[at] = '.'
	}
	for ; n >= 100; n /= 100 {
		at -= 2
		copy(text[at:], pairs[2*(n%100):][:2])
	}
	if n >= 10 {
		at -= 2
		copy(text[at:], pairs[2*n:][:2])
	} else {
		at--
		text[at] = '0' + byte(n)
	}
	if value < 0 && scaled >= 0.5 {
		dst = append(dst, '-')
	}
	return append(dst, text[at:]...)
}

// AppendRounded appends a finite number rounded to at most this many decimals, 0 to 9, without trailing zeros.
func AppendRounded(dst []byte, value float64, decimals int) []byte {
	start := len(dst)
	dst = AppendFixed(dst, value, decimals)
	if decimals == 0 {
		return dst
	}
	end := len(dst)
	for end > start && dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	return dst[:end]
}
