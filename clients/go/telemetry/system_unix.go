//go:build unix

package telemetry

import (
	"io/fs"
	"os"
	"syscall"
)

var detached = &syscall.SysProcAttr{Setsid: true}

// isOwn returns whether a file belongs to the person who runs this.
func isOwn(info fs.FileInfo) bool {
	about, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(about.Uid) == os.Geteuid()
}

// reap lets the system forget a process that has ended; it returns −1 then.
func reap(number int) int {
	if number <= 0 {
		return number
	}
	if done, err := syscall.Wait4(number, nil, syscall.WNOHANG, nil); err != nil || done == number {
		return -1
	}
	return number
}
