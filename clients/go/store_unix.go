//go:build unix

package dither

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// tryLock takes the lock of a file unless another process has it. It ends with the process.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// steady returns a name of the machine's start, and the seconds since it, time asleep included; nothing if it does not say.
func steady() (boot, elapsed string) {
	name, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	seconds, other := os.ReadFile("/proc/uptime")
	if err != nil || other != nil {
		return "", ""
	}
	elapsed, _, _ = strings.Cut(string(seconds), ".")
	return strings.TrimSpace(string(name)), elapsed
}
