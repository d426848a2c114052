//go:build !unix && !windows

package dither

import (
	"errors"
	"os"
)

func tryLock(*os.File) (bool, error) {
	return false, errors.New("dither: files cannot be locked here; write a Store")
}

func syncFolder(string) error { return nil }

func steady() (boot, elapsed string) { return "", "" }
