package dither

import (
	"crypto/ed25519"
	"math/big"
	"slices"
)

// crypto/ed25519 accepts keys of small order, and keys that are not canonical. Nothing secret is computed
// here, so that its time may depend on its input.

var (
	fieldPrime = minus(power(255), integer(19))
	fieldD     = func() *big.Int {
		inverse := new(big.Int).ModInverse(integer(121666), fieldPrime)
		return inField(times(integer(-121665), inverse))
	}()
)

func inField(x *big.Int) *big.Int { return new(big.Int).Mod(x, fieldPrime) }

// isSigned returns whether a signature is the one of a text; both are hexadecimal digits, by the one verdict
// of docs/wire.md.
func isSigned(text string, signature, key any) bool {
	if !isDigest(signature, 128) || !isDigest(key, 64) {
		return false
	}
	public, signed := unhex(key.(string)), unhex(signature.(string))
	// The equation is checked by the encoding of R, so that one that is not canonical fits nothing.
	return isStrongKey(public) && ed25519.Verify(public, []byte(text), signed)
}

// isStrongKey returns whether a key is the canonical encoding of a point that is not of small order.
func isStrongKey(key []byte) bool {
	turned := slices.Clone(key)
	slices.Reverse(turned)
	turned[0] &= 127
	y := new(big.Int).SetBytes(turned)
	if y.Cmp(fieldPrime) >= 0 {
		return false
	}
	square := inField(times(y, y))
	fourth := inField(times(fieldD, times(square, square)))
	small := y.Sign() == 0 || square.Cmp(one) == 0 || inField(plus(fourth, shifted(square, 1))).Cmp(one) == 0
	return !small
}
