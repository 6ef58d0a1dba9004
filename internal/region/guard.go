package region

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// DamageError means that a region file is damaged: a block does not match its checksum, a page cannot be read because
// the file was truncated in place, or an index is out of range.
type DamageError struct {
	Path    string // empty for a fault
	Problem string
	Stack   []byte // of a fault or a bad index, for the log; nil for a checksum
}

// Error says in one line what is wrong and what to do.
func (e *DamageError) Error() string {
	name := "the region file"
	if e.Path != "" {
		name = e.Path
	}
	return fmt.Sprintf("%s is damaged: %s; build it again and replace it by renaming, never in place", name, e.Problem)
}

// Stop as the value of a panic ends the reading of a file: Recover returns Err. Engines use it for limits met in deep
// calls.
type Stop struct{ Err error }

// FaultsPanic turns a fault of this goroutine into a panic instead of the end of the process. Recover needs its result
// to undo that.
func FaultsPanic() (before bool) { return debug.SetPanicOnFault(true) }

// Recover turns a panic about a damaged file into a *DamageError, and a Stop into its Err. Every function that reads a
// region file for a caller outside of the engines starts with
//
//	defer region.Recover(&err, region.FaultsPanic())
func Recover(err *error, before bool) {
	debug.SetPanicOnFault(before)
	switch r := recover().(type) {
	case nil:
	case *DamageError:
		*err = r
	case Stop:
		*err = r.Err
	case runtime.Error:
		*err = &DamageError{Problem: r.Error(), Stack: debug.Stack()}
	default:
		panic(r)
	}
}
