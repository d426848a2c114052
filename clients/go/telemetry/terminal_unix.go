//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package telemetry

import (
	"os"
	"syscall"
	"unsafe"
)

func control(file *os.File, what uintptr, argument uintptr) bool {
	_, _, wrong := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), what, argument)
	return wrong == 0
}

func isTerminal(file *os.File) bool {
	var state syscall.Termios
	return control(file, getTerminal, uintptr(unsafe.Pointer(&state)))
}

// linesOf returns how many lines a terminal has.
func linesOf(file *os.File) int {
	var size [4]uint16
	if control(file, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size))) && size[0] > 0 {
		return int(size[0])
	}
	return 24
}

// forgetInput drops earlier input.
func forgetInput(file *os.File) { control(file, flushInput, flushArgument()) }
