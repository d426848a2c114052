//go:build ephemeral

package dither

import (
	"crypto/ecdh"
	_ "unsafe" // for linkname: go test -tags ephemeral -ldflags=-checklinkname=0
)

//go:linkname generateKey crypto/hpke.testingOnlyGenerateKey
var generateKey func() *ecdh.PrivateKey

func drawEphemeral(private []byte) bool {
	generateKey = func() *ecdh.PrivateKey {
		key, err := ecdh.X25519().NewPrivateKey(private)
		if err != nil {
			panic(err)
		}
		return key
	}
	return true
}
