// Package bridge is what the telemetry kit uses of package dither, and no other program may.
package bridge

import "context"

var (
	// Present is Device.Present. It draws a permanent label only if labels is true. It returns a dither.Outcome.
	Present func(ctx context.Context, device, campaign, value any, labels bool) (any, error)

	Parse func(text string) (any, error) // strict JSON
	Write func(value any) string         // canonical JSON
	Daily func(inquiry any)              // makes each day the drawn one, for a test
	// Shown returns a digest of what a campaign shows in general, with where answers go, and a record of what a yes to it
	// covers; Covers returns whether a record covers a campaign.
	Shown  func(campaign, address, relay any) (general string, record map[string]any)
	Covers func(record map[string]any, campaign any) bool
	Asked  func(device any)                         // says that the kit keeps consent itself; a no of the account counts all the same
	Totals func(epsilon float64, times int) float64 // ε·times, rounded up
)
