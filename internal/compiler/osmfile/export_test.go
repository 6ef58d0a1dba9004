package osmfile

import (
	"strings"
	"testing"
)

// memoryFile is a file in memory.
type memoryFile struct{ *strings.Reader }

func (memoryFile) Close() error { return nil }

// InMemory opens a PBF file that is in memory, which testing/synctest needs: no goroutine waits for the system.
func InMemory(t *testing.T, content string) *File {
	f := &File{in: memoryFile{strings.NewReader(content)}, size: int64(len(content))}
	if err := f.readHeader(); err != nil {
		t.Fatal(err)
	}
	return f
}
