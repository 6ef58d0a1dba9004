package placefile

// How far, in metres, the settlement may be that stands for the city, or the suburb and the hamlet, of a point that no
// polygon contains.
const (
	MaxCityDistance = 30_000
	// MaxCityDistanceUnproven is for points whose state no polygon tells: another state may begin anywhere.
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
