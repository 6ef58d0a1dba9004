// Package regions keeps region files open, with their engines, while requests read them and new files replace them. It
// polls each path every 2 seconds. A new file is verified against its checksums and then swapped in. The old one is
// unmapped when the last request has released it. Package fetch downloads the files.
//
// It knows neither HTTP nor Caddy. Start with Region and Pinned, and with poll.go for how a new file is found.
//
// It imports the engines, region, geo and base.
package regions
