//go:build !unix

package telemetry

import (
	"io/fs"
	"syscall"
)

var detached *syscall.SysProcAttr

func isOwn(fs.FileInfo) bool { return true }

func reap(int) int { return -1 }
