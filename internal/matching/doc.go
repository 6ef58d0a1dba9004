// Package matching finds the drive that most probably made a trace, with the hidden Markov model of Newson and Krumm
// (2009) over the road graph of a region. It does not read traces (package trace) and knows no HTTP.
//
// Start with Matcher and Local.Match. A candidate is a place on an arc near a point; Viterbi's algorithm (viterbi.go)
// finds the best sequence of candidates, with the costs of model.go, and routes between them (transitions.go). What it
// finds becomes a Result in details.go and path.go.
//
// It imports trace, roadgraph, region, geo and base.
package matching
