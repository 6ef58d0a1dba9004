package main

import "syscall"

// dieWithUs has the server end when the demo is killed without a chance to end it.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
