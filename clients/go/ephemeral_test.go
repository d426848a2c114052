//go:build !ephemeral

package dither

// drawEphemeral sets the key of the next request; crypto/hpke lets nobody do so, but in a test that is built with the tag
// ephemeral.
func drawEphemeral([]byte) bool { return false }
