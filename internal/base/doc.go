// Package base is the wing of what everything may use:
//
//   - [github.com/mapsedge/caddy-maps/internal/base/files]: files that appear whole, and files that are safe to open
//   - [github.com/mapsedge/caddy-maps/internal/base/text]: numbers as text, and suggestions for misspelled words
//   - [github.com/mapsedge/caddy-maps/internal/base/heap]: the queue of a best-first search
//   - [github.com/mapsedge/caddy-maps/internal/base/pipeline]: ordered work on all processors, and its progress
//
// Its packages import only each other.
package base
