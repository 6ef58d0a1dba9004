package browsertest

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// paletted is a PNG with 256 of its colours at most: those that it has most of, and one of each sort. Others become the
// nearest of these. It has a third of the size, and of a page it can hardly be told from what it was.
func paletted(data []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	bounds := full.Bounds()
	count := make(map[color.Color]int)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[full.At(x, y)]++
		}
	}
	// Of colours that are as frequent the order is that of their values, so that a picture is always the same.
	colors := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(count[b]-count[a], slices.Compare(values(a), values(b)))
	})
	// What is small has colours as well: first comes one of each sort of colour, then the others.
	sorts := make(map[[3]uint32]bool)
	first := make(map[color.Color]bool)
	for _, c := range colors {
		v := values(c)
		if sort := [3]uint32{v[0] >> 13, v[1] >> 13, v[2] >> 13}; !sorts[sort] {
			sorts[sort], first[c] = true, true
		}
	}
	slices.SortStableFunc(colors, func(a, b color.Color) int {
		switch {
		case first[a] == first[b]:
			return 0
		case first[a]:
			return -1
		}
		return 1
	})
	palette := color.Palette(colors[:min(len(colors), 256)])
	small, nearest := image.NewPaletted(bounds, palette), make(map[color.Color]uint8)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := full.At(x, y)
			index, known := nearest[c]
			if !known {
				index = uint8(palette.Index(c))
				nearest[c] = index
			}
			small.SetColorIndex(x, y, index)
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}

func values(c color.Color) []uint32 {
	r, g, b, a := c.RGBA()
	return []uint32{r, g, b, a}
}
