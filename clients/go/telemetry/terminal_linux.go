package telemetry

import "syscall"

const (
	getTerminal = syscall.TCGETS
	flushInput  = 0x540B // TCFLSH; of the input if its argument is 0
)

func flushArgument() uintptr { return 0 }
