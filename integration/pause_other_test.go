//go:build !unix

package integration

import (
	"errors"
	"os"
)

func pauseProcess(*os.Process) error  { return errors.New("no such signal") }
func resumeProcess(*os.Process) error { return errors.New("no such signal") }
