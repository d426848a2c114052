//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package telemetry

import (
	"syscall"
	"unsafe"
)

const (
	getTerminal = syscall.TIOCGETA
	flushInput  = syscall.TIOCFLUSH
)

var reading int32 = 1 // FREAD

func flushArgument() uintptr { return uintptr(unsafe.Pointer(&reading)) }
