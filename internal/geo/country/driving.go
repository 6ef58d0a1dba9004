package country

import "strings"

// leftDriving lists, by alpha-2 code, where vehicles drive on the left.
const leftDriving = "AG AI AU BB BD BM BN BS BT BW CC CK CX CY DM FJ FK GB GD GG GS GY HK ID IE IM IN JE JM " +
	"JP KE KI KN KY LC LK LS MO MS MT MU MV MW MY MZ NA NF NP NR NU NZ PG PK PN SB SC SG SH " +
	"SR SZ TC TH TK TL TO TT TV TZ UG VC VG VI WS ZA ZM ZW"

// DrivesOnLeft reports whether vehicles drive on the left in a country.
func (c Country) DrivesOnLeft() bool {
	return len(c.Alpha2) == 2 && strings.Contains(leftDriving, c.Alpha2)
}
