package placefile

// The greatest distances, in metres, of a settlement that is taken for the city, or the suburb and the hamlet, of a
// point outside all their polygons.
const (
	MaxCityDistance = 30_000
	// MaxCityDistanceUnproven is for points outside all polygons of states: another state may be near.
	MaxCityDistanceUnproven = 5_000
	MaxSuburbDistance       = 1_000
)

// Jurisdiction restricts a search to settlements of a country and state, and maybe to those of a city.
type Jurisdiction struct {
	Country     [3]byte
	State, City uint32 // as in place
}

// Allows reports whether a settlement is one of these.
func (j *Jurisdiction) Allows(p *Place, sameCity bool) bool {
	return p.State == j.State && (!sameCity || p.City == j.City) && p.Country == j.Country
}
