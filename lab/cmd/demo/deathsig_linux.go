package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithMake has the demo end when make is killed without a chance to end it.
func endWithMake() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0) }

// endWithUs has the server end when the demo is killed without a chance to end it.
func endWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
