//go:build unix

package telemetry

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// isOwn returns whether a file belongs to the person who runs this.
func isOwn(info fs.FileInfo) bool {
	about, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(about.Uid) == os.Geteuid()
}

// spawn starts this program to send, detached: it delays nobody's end. It returns its number, or −1.
func spawn(environment []string) int {
	program, err := os.Executable()
	if err != nil {
		return -1
	}
	command := exec.Command(program)
	command.Env, command.SysProcAttr = environment, &syscall.SysProcAttr{Setsid: true}
	if command.Start() != nil {
		return -1
	}
	number := command.Process.Pid
	_ = command.Process.Release()
	return number
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
