package geometry

import "encoding/binary"

// appendRun adds a line of at most MaxSegments segments, counted from a corner that is not north or east of any of it.
func appendRun(data []byte, line []Coord, from Coord) []byte {
	segments := len(line) - 1
	head, written := byte(segments)<<runSegments, segments
	if segments > 1 && line[segments] == line[0] {
		head, written = head|runClosed, segments-1
	}
	most := int64(0)
	for i := 1; i <= written; i++ {
		dx, dy := int64(line[i].X)-int64(line[i-1].X), int64(line[i].Y)-int64(line[i-1].Y)
		most = max(most, dx, dy, -1-dx, -1-dy)
	}
	width := byte(width32)
	switch {
	case most < 1<<7:
		width = width8
	case most < 1<<11:
		width = width12
	case most < 1<<15:
		width = width16
	}
	data = append(data, head|width)
	data = binary.AppendUvarint(data, uint64(int64(line[0].X)-int64(from.X)))
	data = binary.AppendUvarint(data, uint64(int64(line[0].Y)-int64(from.Y)))
	for i := 1; i <= written; i++ {
		dx, dy := line[i].X-line[i-1].X, line[i].Y-line[i-1].Y
		switch width {
		case width8:
			data = append(data, byte(dx), byte(dy))
		case width12:
			data = append(data, byte(dx), byte(dx>>8&0xf|dy<<4), byte(dy>>4))
		case width16:
			data = binary.LittleEndian.AppendUint32(data, uint32(uint16(dx))|uint32(dy)<<16)
		default:
			data = binary.LittleEndian.AppendUint64(data, uint64(uint32(dx))|uint64(dy)<<32)
		}
	}
	return data
}

// readRun reads a run into a buffer, and returns its vertices.
func readRun(data []byte, from Coord, buffer *runBuffer) []Coord {
	head := data[0]
	segments := int(head >> runSegments)
	if segments < 1 || segments > MaxSegments || head&inParts != 0 {
		Corrupt("a run of segments has no proper length")
	}
	x, n := uvarint(data, 1)
	y, n := uvarint(data, n)
	c := Coord{from.X + int32(x), from.Y + int32(y)}
	buffer[0] = c
	written := segments
	if head&runClosed != 0 {
		written--
	}
	switch head & runWidth {
	case width8:
		d := data[n : n+2*written]
		for i := 1; i <= written; i++ {
			c.X, c.Y = c.X+int32(int8(d[0])), c.Y+int32(int8(d[1]))
			buffer[i], d = c, d[2:]
		}
	case width12:
		d := data[n : n+3*written]
		for i := 1; i <= written; i++ {
			v := uint32(d[0]) | uint32(d[1])<<8 | uint32(d[2])<<16
			c.X, c.Y = c.X+int32(v<<20)>>20, c.Y+int32(v<<8)>>20
			buffer[i], d = c, d[3:]
		}
	case width16:
		d := data[n : n+4*written]
		for i := 1; i <= written; i++ {
			v := binary.LittleEndian.Uint32(d)
			c.X, c.Y = c.X+int32(int16(v)), c.Y+int32(int16(v>>16))
			buffer[i], d = c, d[4:]
		}
	default:
		d := data[n : n+8*written]
		for i := 1; i <= written; i++ {
			v := binary.LittleEndian.Uint64(d)
			c.X, c.Y = c.X+int32(v), c.Y+int32(v>>32)
			buffer[i], d = c, d[8:]
		}
	}
	if head&runClosed != 0 {
		buffer[segments] = buffer[0]
	}
	return buffer[:segments+1]
}
