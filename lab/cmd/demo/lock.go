package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errLocked is what lockFile returns where another process has the lock.
var errLocked = errors.New("locked")

// takeDirectory makes the demo's directory this process's own until release is called or the process ends, whichever
// way. Another demo that works in it, perhaps still being built, is an error that says where it serves.
func takeDirectory(s settings) (release func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(s.dir, 0o700); err != nil { // make has made it, to put this program into
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// Where the system cannot lock files, the ports that are looked at next have to do.
	if err := lockFile(file); errors.Is(err, errLocked) {
		defer file.Close()
		url, _ := io.ReadAll(io.LimitReader(file, 1000)) // for people: without it the rest is still true
		return nil, fmt.Errorf("a demo is running already, or being built: it serves at %s, and its files are in %s; "+
			"end it, or give "+
			"this one places of its own: make demo DEMO_DIR=.demo2 MAPS_PORT=8081 MAPS_ADMIN=127.0.0.1:2030",
			strings.TrimSpace(string(url)), s.dir)
	}
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(s.baseURL()+"\n"), 0)
	}
	return func() { file.Close() }, nil
}
