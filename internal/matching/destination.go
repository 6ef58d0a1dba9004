package matching

// intrusion is what it costs, in nats, to go into a road that is only for those who have a destination there. Points
// recorded there soon pay for it; a route that nothing was recorded of would rather go a few blocks round. It is less
// than what a search leaves room for, so that such a road is always tried.
var intrusion = 8.0

// enterCost is intrusion in the unit of routes, between points that are apart.
func enterCost(apart float64) float64 { return intrusion * detour(apart) }
