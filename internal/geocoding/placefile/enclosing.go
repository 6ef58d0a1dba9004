package placefile

// Enclosing collects what the areas around a point say about its address.
type Enclosing struct {
	Feature         [roles]uint32 // the best area so far for each role: feature + 1, 0 for none
	Name            [roles]uint64 // string: its name
	Extent          [roles]float32
	PostcodeText    uint64 // string
	Rank            [roles]uint8
	CountryCode     [3]byte
	SubdivisionCode [3]byte
}

// The roles of the areas around a point.
const (
	RoleState = iota
	RoleCity
	RoleSuburb
	RoleAnswer      // the smallest place or administrative area
	RoleCountry     // a country's own
	roleSubdivision // any with a code of its country
	rolePostcode
	RoleCounty
	RoleHamlet
	roles
)

func (e *Enclosing) improves(role int, f uint32, name uint64, rank uint8, extent float32) bool {
	if e.Feature[role] != 0 && (rank > e.Rank[role] || rank == e.Rank[role] &&
		(extent > e.Extent[role] || extent == e.Extent[role] && f+1 >= e.Feature[role])) {
		return false
	}
	e.Feature[role], e.Name[role], e.Rank[role], e.Extent[role] = f+1, name, rank, extent
	return true
}

// Add adds an area that contains the point: a feature with its extent.
func (e *Enclosing) Add(f uint32, a *Area, extent float32) {
	if a.State != 0 {
		e.improves(RoleState, f, a.Name, a.State, extent)
	}
	if a.City != 0 {
		e.improves(RoleCity, f, a.Name, a.City, extent)
	}
	if a.Suburb != 0 {
		e.improves(RoleSuburb, f, a.Name, a.Suburb, extent)
	}
	if a.County != 0 {
		e.improves(RoleCounty, f, a.Name, a.County, extent)
	}
	if a.Flags&AreaIsHamlet != 0 {
		e.improves(RoleHamlet, f, a.Name, 0, extent)
	}
	if a.Flags&AreaAnswers != 0 {
		e.improves(RoleAnswer, f, a.Name, 0, extent)
	}
	if a.Country != ([3]byte{}) {
		if a.Flags&AreaIsCountry != 0 && e.improves(RoleCountry, f, a.Name, 0, extent) {
			e.CountryCode = a.Country
		}
		if e.improves(roleSubdivision, f, a.Name, 0, extent) {
			e.SubdivisionCode = a.Country
		}
	}
	if a.Postcode != 0 && e.improves(rolePostcode, f, a.Name, 0, extent) {
		e.PostcodeText = a.Postcode
	}
}

// Code returns the country code of the areas around the point: of a country, else of one of its parts, else zero.
func (e *Enclosing) Code() [3]byte {
	if e.Feature[RoleCountry] != 0 {
		return e.CountryCode
	}
	return e.SubdivisionCode
}
