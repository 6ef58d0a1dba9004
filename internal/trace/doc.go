// Package trace reads recorded positions in all formats that clients send: the `path` parameter, JSON, GPX, GeoJSON and
// CSV. It does not match them to roads: see package matching. Parsers bound their work and memory, and their errors
// name the point. Start with Point and Parse.
//
// It imports base.
package trace
