package region

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// DamageError says that a region file does not hold what it should: a block that does not match its checksum, a page
// that cannot be read because the file was cut short in place, or an index that leads nowhere.
type DamageError struct {
	Path    string // empty where a fault does not tell
	Problem string
	Stack   []byte // of a fault or a bad index, for the log; nil for a checksum
}

// Error says what is wrong and what to do, in one line.
func (e *DamageError) Error() string {
	name := "the region file"
	if e.Path != "" {
		name = e.Path
	}
	return fmt.Sprintf("%s is damaged: %s; build it again and replace it by renaming, never in place", name, e.Problem)
}

// Stop ends the reading of a file from within, when it is the value of a panic: Recover makes Err the error. It is
// for limits that are met deep inside of what reads.
type Stop struct{ Err error }

// FaultsPanic makes a read of a page that cannot be read a panic of this goroutine instead of the end of the process,
// and returns what Recover needs to undo that.
func FaultsPanic() (before bool) { return debug.SetPanicOnFault(true) }

// Recover turns a panic over a damaged file into a *DamageError in err, and a Stop into its own. Every function that
// reads a region file for a caller outside starts with
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
