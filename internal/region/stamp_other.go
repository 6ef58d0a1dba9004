//go:build !unix

package region

import "os"

// stamp is empty: Windows does not allow to truncate a mapped file, nor to replace an open one.
type stamp struct{}

func newStamp(file *os.File) (stamp, error) { return stamp{}, file.Close() }

func (*stamp) changed() bool { return false }

func (*stamp) fetch(from, to uint64) {}

func (*stamp) close() {}
