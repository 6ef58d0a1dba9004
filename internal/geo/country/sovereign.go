package country

import "strings"

// sovereigns lists, by alpha-2 code, the states whose territories have ISO 3166-1 codes of their own.
var sovereigns = map[string]string{
	"AU": "CC CX HM NF",
	"CN": "HK MO",
	"DK": "FO GL",
	"FI": "AX",
	"FR": "BL GF GP MF MQ NC PF PM RE TF WF YT",
	"GB": "AI BM FK GG GI GS IM IO JE KY MS PN SH TC VG",
	"NL": "AW BQ CW SX",
	"NO": "BV SJ",
	"NZ": "CK NU TK",
	"US": "AS GU MP PR UM VI",
}

// IsTerritoryOf reports whether a country is a territory of a state, given by its alpha-2 code, that has a code of its
// own. Many maps use the code of the state there.
func (c Country) IsTerritoryOf(alpha2 string) bool {
	return len(c.Alpha2) == 2 && strings.Contains(sovereigns[alpha2], c.Alpha2)
}
