// Package region reads and writes region files: one immutable file of named sections, each an array of fixed-size
// little-endian elements, memory-mapped and read in place. Engines and compiler define the sections that they read and
// write; this package knows only the coverage and the metadata. Start with Open, Section and Writer.
//
// Layout, all numbers little-endian:
//
//	0            header page, 4096 bytes: magic, format version, sizes and offsets, identity, CRC-32C of the page
//	4096         sections, each aligned to 64 bytes
//	…            CRC-32C of each 16 KiB block of the bytes between the header page and here, 4 bytes each
//	…            section table: name, element size, offset, count; in the order of their names
//
// Opening reads only the header page and the section table, so its cost does not depend on the size of the file. A
// block is checked against its CRC when something in it is first read.
//
// It imports geo and base.
package region
