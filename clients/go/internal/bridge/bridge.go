// Package bridge is what the telemetry kit uses of package dither, and no other program may.
package bridge

var (
	Parse  func(text string) (any, error)           // strict JSON
	Write  func(value any) string                   // canonical JSON
	Daily  func(inquiry any)                        // makes each day the drawn one, for a test
	Totals func(epsilon float64, times int) float64 // ε·times, rounded up
)
