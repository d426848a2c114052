package dither

import (
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// tryLock takes the lock of a file unless another process has it. It ends with the process.
func tryLock(file *os.File) (bool, error) {
	const exclusive, immediately, violation = 2, 1, syscall.Errno(33)
	var where syscall.Overlapped
	done, _, err := lockFileEx.Call(file.Fd(), exclusive|immediately, 0, 1, 0, uintptr(unsafe.Pointer(&where)))
	if done != 0 || err == violation {
		return done != 0, nil
	}
	return false, err
}

func syncFolder(string) error { return nil } // Windows does not open folders

func steady() (boot, elapsed string) { return "", "" }
