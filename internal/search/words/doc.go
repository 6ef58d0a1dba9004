// Package words splits names and queries into normalized words, for search. The compiler and the engine call the same
// functions, so that a name and a query for it give the same tokens.
//
// What counts is what people type: case, accents, punctuation and the form of an apostrophe do not matter.
// Abbreviations and their full forms stay different tokens, which [Variants] connects.
//
// Three tables are text: abbreviations.txt, categories.txt, and letters.txt for [Latin].
package words
