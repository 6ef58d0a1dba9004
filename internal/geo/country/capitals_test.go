package country

import (
	"testing"

	"github.com/paulmach/orb"
)

// capital is a seat of government, as latitude and longitude are usually written.
type capital struct {
	code     string
	name     string
	lat, lon float64
}

var capitals = []capital{
	{"AFG", "Kabul", 34.5553, 69.2075}, {"ALB", "Tirana", 41.3275, 19.8187}, {"DZA", "Algiers", 36.7538, 3.0588},
	{"AND", "Andorra la Vella", 42.5063, 1.5218}, {"AGO", "Luanda", -8.8390, 13.2894}, {"ATG", "St. John's", 17.1274, -61.8468},
	{"ARG", "Buenos Aires", -34.6037, -58.3816}, {"ARM", "Yerevan", 40.1792, 44.4991}, {"AUS", "Canberra", -35.2809, 149.1300},
	{"AUT", "Vienna", 48.2082, 16.3738}, {"AZE", "Baku", 40.4093, 49.8671}, {"BHS", "Nassau", 25.0443, -77.3504},
	{"BHR", "Manama", 26.2235, 50.5876}, {"BGD", "Dhaka", 23.8103, 90.4125}, {"BRB", "Bridgetown", 13.0975, -59.6167},
	{"BLR", "Minsk", 53.9006, 27.5590}, {"BEL", "Brussels", 50.8503, 4.3517}, {"BLZ", "Belmopan", 17.2510, -88.7590},
	{"BEN", "Porto-Novo", 6.4969, 2.6289}, {"BTN", "Thimphu", 27.4728, 89.6390}, {"BOL", "La Paz", -16.4897, -68.1193},
	{"BOL", "Sucre", -19.0196, -65.2619}, {"BIH", "Sarajevo", 43.8563, 18.4131}, {"BWA", "Gaborone", -24.6282, 25.9231},
	{"BRA", "Brasília", -15.7939, -47.8828}, {"BRN", "Bandar Seri Begawan", 4.9031, 114.9398}, {"BGR", "Sofia", 42.6977, 23.3219},
	{"BFA", "Ouagadougou", 12.3714, -1.5197}, {"BDI", "Gitega", -3.4264, 29.9306}, {"BDI", "Bujumbura", -3.3614, 29.3599},
	{"CPV", "Praia", 14.9330, -23.5133}, {"KHM", "Phnom Penh", 11.5564, 104.9282}, {"CMR", "Yaoundé", 3.8480, 11.5021},
	{"CAN", "Ottawa", 45.4215, -75.6972}, {"CAF", "Bangui", 4.3947, 18.5582}, {"TCD", "N'Djamena", 12.1348, 15.0557},
	{"CHL", "Santiago", -33.4489, -70.6693}, {"CHN", "Beijing", 39.9042, 116.4074}, {"COL", "Bogotá", 4.7110, -74.0721},
	{"COM", "Moroni", -11.7172, 43.2473}, {"COG", "Brazzaville", -4.2634, 15.2429}, {"COD", "Kinshasa", -4.4419, 15.2663},
	{"CRI", "San José", 9.9281, -84.0907}, {"CIV", "Yamoussoukro", 6.8276, -5.2893}, {"CIV", "Abidjan", 5.3600, -4.0083},
	{"HRV", "Zagreb", 45.8150, 15.9819}, {"CUB", "Havana", 23.1136, -82.3666}, {"CYP", "Nicosia", 35.1856, 33.3823},
	{"CZE", "Prague", 50.0755, 14.4378}, {"DNK", "Copenhagen", 55.6761, 12.5683}, {"DJI", "Djibouti", 11.5721, 43.1456},
	{"DMA", "Roseau", 15.3092, -61.3794}, {"DOM", "Santo Domingo", 18.4861, -69.9312}, {"ECU", "Quito", -0.1807, -78.4678},
	{"EGY", "Cairo", 30.0444, 31.2357}, {"SLV", "San Salvador", 13.6929, -89.2182}, {"GNQ", "Malabo", 3.7504, 8.7371},
	{"ERI", "Asmara", 15.3229, 38.9251}, {"EST", "Tallinn", 59.4370, 24.7536}, {"SWZ", "Mbabane", -26.3054, 31.1367},
	{"ETH", "Addis Ababa", 9.0320, 38.7469}, {"FJI", "Suva", -18.1248, 178.4501}, {"FIN", "Helsinki", 60.1699, 24.9384},
	{"FRA", "Paris", 48.8566, 2.3522}, {"GAB", "Libreville", 0.4162, 9.4673}, {"GMB", "Banjul", 13.4549, -16.5790},
	{"GEO", "Tbilisi", 41.7151, 44.8271}, {"DEU", "Berlin", 52.5200, 13.4050}, {"GHA", "Accra", 5.6037, -0.1870},
	{"GRC", "Athens", 37.9838, 23.7275}, {"GRD", "St. George's", 12.0561, -61.7488}, {"GTM", "Guatemala City", 14.6349, -90.5069},
	{"GIN", "Conakry", 9.6412, -13.5784}, {"GNB", "Bissau", 11.8817, -15.6178}, {"GUY", "Georgetown", 6.8013, -58.1551},
	{"HTI", "Port-au-Prince", 18.5944, -72.3074}, {"HND", "Tegucigalpa", 14.0723, -87.1921}, {"HUN", "Budapest", 47.4979, 19.0402},
	{"ISL", "Reykjavík", 64.1466, -21.9426}, {"IND", "New Delhi", 28.6139, 77.2090}, {"IDN", "Jakarta", -6.2088, 106.8456},
	{"IRN", "Tehran", 35.6892, 51.3890}, {"IRQ", "Baghdad", 33.3152, 44.3661}, {"IRL", "Dublin", 53.3498, -6.2603},
	{"ISR", "Tel Aviv", 32.0853, 34.7818}, {"ITA", "Rome", 41.9028, 12.4964}, {"JAM", "Kingston", 17.9712, -76.7936},
	{"JPN", "Tokyo", 35.6762, 139.6503}, {"JOR", "Amman", 31.9454, 35.9284}, {"KAZ", "Astana", 51.1694, 71.4491},
	{"KEN", "Nairobi", -1.2921, 36.8219}, {"KIR", "South Tarawa", 1.3291, 172.9790}, {"PRK", "Pyongyang", 39.0392, 125.7625},
	{"KOR", "Seoul", 37.5665, 126.9780}, {"XKX", "Pristina", 42.6629, 21.1655}, {"KWT", "Kuwait City", 29.3759, 47.9774},
	{"KGZ", "Bishkek", 42.8746, 74.5698}, {"LAO", "Vientiane", 17.9757, 102.6331}, {"LVA", "Riga", 56.9496, 24.1052},
	{"LBN", "Beirut", 33.8938, 35.5018}, {"LSO", "Maseru", -29.3142, 27.4833}, {"LBR", "Monrovia", 6.3156, -10.8074},
	{"LBY", "Tripoli", 32.8872, 13.1913}, {"LIE", "Vaduz", 47.1410, 9.5209}, {"LTU", "Vilnius", 54.6872, 25.2797},
	{"LUX", "Luxembourg", 49.6116, 6.1319}, {"MDG", "Antananarivo", -18.8792, 47.5079}, {"MWI", "Lilongwe", -13.9626, 33.7741},
	{"MYS", "Kuala Lumpur", 3.1390, 101.6869}, {"MDV", "Malé", 4.1755, 73.5093}, {"MLI", "Bamako", 12.6392, -8.0029},
	{"MLT", "Valletta", 35.8989, 14.5146}, {"MHL", "Majuro", 7.1164, 171.1858}, {"MRT", "Nouakchott", 18.0735, -15.9582},
	{"MUS", "Port Louis", -20.1609, 57.5012}, {"MEX", "Mexico City", 19.4326, -99.1332}, {"FSM", "Palikir", 6.9248, 158.1610},
	{"MDA", "Chișinău", 47.0105, 28.8638}, {"MCO", "Monaco", 43.7384, 7.4246}, {"MNG", "Ulaanbaatar", 47.8864, 106.9057},
	{"MNE", "Podgorica", 42.4304, 19.2594}, {"MAR", "Rabat", 34.0209, -6.8416}, {"MOZ", "Maputo", -25.9692, 32.5732},
	{"MMR", "Naypyidaw", 19.7633, 96.0785}, {"MMR", "Yangon", 16.8409, 96.1735}, {"NAM", "Windhoek", -22.5609, 17.0658},
	{"NRU", "Yaren", -0.5477, 166.9209}, {"NPL", "Kathmandu", 27.7172, 85.3240}, {"NLD", "Amsterdam", 52.3676, 4.9041},
	{"NZL", "Wellington", -41.2866, 174.7756}, {"NIC", "Managua", 12.1150, -86.2362}, {"NER", "Niamey", 13.5116, 2.1254},
	{"NGA", "Abuja", 9.0765, 7.3986}, {"MKD", "Skopje", 41.9973, 21.4280}, {"NOR", "Oslo", 59.9139, 10.7522},
	{"OMN", "Muscat", 23.5880, 58.3829}, {"PAK", "Islamabad", 33.6844, 73.0479}, {"PLW", "Ngerulmud", 7.5006, 134.6242},
	{"PSE", "Ramallah", 31.9038, 35.2034}, {"PAN", "Panama City", 8.9824, -79.5199}, {"PNG", "Port Moresby", -9.4438, 147.1803},
	{"PRY", "Asunción", -25.2637, -57.5759}, {"PER", "Lima", -12.0464, -77.0428}, {"PHL", "Manila", 14.5995, 120.9842},
	{"POL", "Warsaw", 52.2297, 21.0122}, {"PRT", "Lisbon", 38.7223, -9.1393}, {"QAT", "Doha", 25.2854, 51.5310},
	{"ROU", "Bucharest", 44.4268, 26.1025}, {"RUS", "Moscow", 55.7558, 37.6173}, {"RWA", "Kigali", -1.9441, 30.0619},
	{"KNA", "Basseterre", 17.3026, -62.7177}, {"LCA", "Castries", 14.0101, -60.9875}, {"VCT", "Kingstown", 13.1600, -61.2248},
	{"WSM", "Apia", -13.8507, -171.7514}, {"SMR", "San Marino", 43.9424, 12.4578}, {"STP", "São Tomé", 0.3365, 6.7273},
	{"SAU", "Riyadh", 24.7136, 46.6753}, {"SEN", "Dakar", 14.7167, -17.4677}, {"SRB", "Belgrade", 44.7866, 20.4489},
	{"SYC", "Victoria", -4.6191, 55.4513}, {"SLE", "Freetown", 8.4657, -13.2317}, {"SGP", "Singapore", 1.3521, 103.8198},
	{"SVK", "Bratislava", 48.1486, 17.1077}, {"SVN", "Ljubljana", 46.0569, 14.5058}, {"SLB", "Honiara", -9.4456, 159.9729},
	{"SOM", "Mogadishu", 2.0469, 45.3182}, {"ZAF", "Pretoria", -25.7479, 28.2293}, {"ZAF", "Cape Town", -33.9249, 18.4241},
	{"ZAF", "Bloemfontein", -29.0852, 26.1596}, {"SSD", "Juba", 4.8594, 31.5713}, {"ESP", "Madrid", 40.4168, -3.7038},
	{"LKA", "Sri Jayawardenepura Kotte", 6.8868, 79.9187}, {"LKA", "Colombo", 6.9271, 79.8612}, {"SDN", "Khartoum", 15.5007, 32.5599},
	{"SUR", "Paramaribo", 5.8520, -55.2038}, {"SWE", "Stockholm", 59.3293, 18.0686}, {"CHE", "Bern", 46.9480, 7.4474},
	{"SYR", "Damascus", 33.5138, 36.2765}, {"TWN", "Taipei", 25.0330, 121.5654}, {"TJK", "Dushanbe", 38.5598, 68.7870},
	{"TZA", "Dodoma", -6.1630, 35.7516}, {"TZA", "Dar es Salaam", -6.7924, 39.2083}, {"THA", "Bangkok", 13.7563, 100.5018},
	{"TLS", "Dili", -8.5569, 125.5603}, {"TGO", "Lomé", 6.1375, 1.2123}, {"TON", "Nukuʻalofa", -21.1394, -175.2049},
	{"TTO", "Port of Spain", 10.6596, -61.5190}, {"TUN", "Tunis", 36.8065, 10.1815}, {"TUR", "Ankara", 39.9334, 32.8597},
	{"TKM", "Ashgabat", 37.9601, 58.3261}, {"TUV", "Funafuti", -8.5211, 179.1983}, {"UGA", "Kampala", 0.3476, 32.5825},
	{"UKR", "Kyiv", 50.4501, 30.5234}, {"ARE", "Abu Dhabi", 24.4539, 54.3773}, {"GBR", "London", 51.5074, -0.1278},
	{"USA", "Washington", 38.9072, -77.0369}, {"URY", "Montevideo", -34.9011, -56.1645}, {"UZB", "Tashkent", 41.2995, 69.2401},
	{"VUT", "Port Vila", -17.7333, 168.3273}, {"VAT", "Vatican City", 41.9029, 12.4534}, {"VEN", "Caracas", 10.4806, -66.9036},
	{"VNM", "Hanoi", 21.0278, 105.8342}, {"YEM", "Sana'a", 15.3694, 44.1910}, {"ZMB", "Lusaka", -15.3875, 28.3228},
	{"ZWE", "Harare", -17.8252, 31.0335},
}

// TestCapitals asks as a geocoder does: the country that contains the position, or else, since some capitals lie on
// islets or quays that outlines at 1:10 million leave out, the nearest.
func TestCapitals(t *testing.T) {
	seen := make(map[string]bool)
	contained := 0
	for _, c := range capitals {
		seen[c.code] = true
		p := orb.Point{c.lon, c.lat}
		got, metres, ok := Nearest(p, 20_000)
		if !ok || got.Code != c.code {
			t.Errorf("%s %v: got %q at %.0f m, want %s", c.name, p, got.Code, metres, c.code)
		}
		if _, ok := Lookup(p); ok {
			contained++
		}
	}
	if contained < len(capitals)*9/10 {
		t.Errorf("only %d of %d capitals lie in a country", contained, len(capitals))
	}
	t.Logf("%d capitals of %d countries, %d inside an outline", len(capitals), len(seen), contained)
	if len(seen) < 195 {
		t.Errorf("capitals of only %d countries", len(seen))
	}
}
