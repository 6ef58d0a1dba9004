//go:build !linux

package main

import "syscall"

// dieWithUs does nothing here: only Linux ties one process to the life of another.
func dieWithUs() *syscall.SysProcAttr { return nil }
