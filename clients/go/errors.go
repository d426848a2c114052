package dither

import (
	"errors"
	"fmt"
)

// Sentinel errors, for errors.Is. An [Error] with one of these reasons matches.
var (
	ErrText        = errors.New("dither: not JSON of the expected form")
	ErrVersion     = errors.New("dither: not version 2, or other parts")
	ErrFingerprint = errors.New("dither: another fingerprint")
	ErrKey         = errors.New("dither: signed with another key, or a key that is not accepted")
	ErrSignature   = errors.New("dither: an invalid signature")
	ErrPrivacy     = errors.New("dither: the integers spend more than ε")
	ErrTerms       = errors.New("dither: a term of a campaign that is not as it must be")
	ErrPromise     = errors.New("dither: a promise that does not fit its questions")
	ErrList        = errors.New("dither: a list of campaigns that is not in order or does not continue")
	ErrDraw        = errors.New("dither: a draw that this client does not have")
	ErrAsking      = errors.New("dither: an unsupported question")
	ErrAccount     = errors.New("dither: the account is missing or damaged")
	ErrAddress     = errors.New("dither: an address that is neither https nor this machine")
	ErrLabel       = errors.New("dither: a label that the campaign does not list")
	ErrCampaign    = errors.New("dither: no campaign at the address")
	ErrEpsilon     = errors.New("dither: a budget that is not in range")
	ErrBusy        = errors.New("dither: another process holds the account")
)

var sentinels = map[string]error{
	"text": ErrText, "version": ErrVersion, "fingerprint": ErrFingerprint, "key": ErrKey, "signature": ErrSignature,
	"privacy": ErrPrivacy, "terms": ErrTerms, "promise": ErrPromise, "list": ErrList, "draw": ErrDraw, "asking": ErrAsking,
	"account": ErrAccount, "address": ErrAddress, "label": ErrLabel, "campaign": ErrCampaign, "epsilon": ErrEpsilon,
	"busy": ErrBusy,
}

// An Error says why something that was given is not allowed. Reason is one word; docs/devices.md explains it.
// No error holds a person's value.
type Error struct {
	Reason string
	Words  string // a sentence, or empty
}

func (e *Error) Error() string {
	if known := sentinels[e.Reason]; e.Words == "" && known != nil {
		return known.Error()
	} else if e.Words == "" {
		return "dither: " + e.Reason
	}
	return "dither: " + e.Reason + ": " + e.Words
}

// Is reports whether target is the sentinel error of the reason.
func (e *Error) Is(target error) bool {
	known, ok := sentinels[e.Reason]
	return ok && known == target
}

// need panics with an Error unless something is as it must be. Readers recurse deeply into texts of
// strangers; every exported function that calls one returns the error by way of catch.
//
//go:noinline
func need(fine bool, reason string) {
	if !fine {
		panic(&Error{Reason: reason})
	}
}

// needs is need with a sentence.
func needs(fine bool, reason string, words ...any) {
	if !fine {
		panic(refusal(reason, words...))
	}
}

func refusal(reason string, words ...any) *Error {
	if len(words) == 0 {
		return &Error{Reason: reason}
	}
	return &Error{reason, fmt.Sprintf(words[0].(string), words[1:]...)}
}

// catch sets the error that need panicked with. Any other panic goes on: it is a mistake in this package.
func catch(err *error) {
	switch found := recover().(type) {
	case nil:
	case *Error:
		*err = found
	default:
		panic(found)
	}
}
