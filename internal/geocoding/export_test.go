package geocoding

// What only tests need to know.
const MaxLanguages = maxLanguages

var (
	Shorter   = shorter
	CountryOf = countryOf
)
