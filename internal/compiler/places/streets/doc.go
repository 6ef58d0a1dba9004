// Package streets finds the streets near a house, how far they are, and the roads without a name that lead to them.
// Package places decides which of them a house is on.
package streets
