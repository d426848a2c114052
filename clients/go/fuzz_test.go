package dither

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// Every reader gets hostile input. It may panic only with an Error, and accepted input is kept.

// read calls a reader and lets an Error pass.
func read(work func()) {
	var err error
	defer catch(&err)
	work()
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e-7,"\u00e9\ud83d\ude00",null,true]}`, `[]`, `"\ud800"`, `{"a":1,"a":2}`, `1e999`, `-0`, "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read(func() {
			written := write(parse(text))
			if again := write(parse(written)); again != written {
				t.Errorf("%q became %q", written, again)
			}
		})
	})
}

func FuzzQuestion(f *testing.F) {
	for _, question := range rowsOf(vectorsOf(f, "draws"), "questions") {
		f.Add(asString(question["specification"]), []byte{0, 1, 255, 128}, 0.5, "other")
	}
	f.Fuzz(func(t *testing.T, text string, random []byte, x float64, label string) {
		if len(text) > 1<<14 {
			return
		}
		// A fingerprint that fits lets changed integers come to their reader.
		read(func() {
			whole := asObject(parse(text))
			whole["fingerprint"] = digest(asString(whole["device"]), 32)
			text = write(whole)
		})
		question, err := ReadQuestion(text)
		if err != nil {
			return
		}
		for _, value := range []any{x, label, nil, []any{x, x}, []any{[]any{x, x}}, []any{label}, object{label: label}, true} {
			if input := question.drawing.input(plain(value)); input != nil {
				read(func() { question.drawing.draw(input, source{bytes.NewReader(bytes.Repeat(random, 64))}) })
				plain(input)
			}
		}
	})
}

func FuzzCampaign(f *testing.F) {
	vectors := vectorsOf(f, "texts")
	key := asString(vectors["key"])
	for _, one := range rowsOf(vectors, "campaigns") {
		f.Add(asString(one["published"]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = ReadCampaign(text, key)
		read(func() { readTerms(asString(asObject(parse(text))["campaign"])) }) // a signer may also be hostile
		read(func() { readTerms(text) })
	})
}

func FuzzList(f *testing.F) {
	vectors := vectorsOf(f, "list")
	for _, one := range rowsOf(vectors, "lists") {
		f.Add(asString(one["published"]), write(one["kept"]))
	}
	f.Fuzz(func(t *testing.T, text, kept string) {
		read(func() { readPublished(text, asString(vectors["key"])).continues(parse(kept)) })
		read(func() { seenOf(text) })
	})
}

func FuzzBinaryResponse(f *testing.F) {
	for _, one := range rowsOf(vectorsOf(f, "ohttp"), "responses") {
		plain, _ := hex.DecodeString(asString(one["plain"]))
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) { _, _ = binaryResponse(plain) })
}

func FuzzConfiguration(f *testing.F) {
	vectors := vectorsOf(f, "ohttp")
	for _, one := range append(rowsOf(vectors, "configurations"), rowsOf(vectors, "exchanges")...) {
		f.Add(asString(one["configuration"]), []byte{1})
	}
	f.Fuzz(func(t *testing.T, text string, answer []byte) {
		read(func() {
			s, err := readConfiguration(text).seal([]byte("x"))
			if err == nil {
				_, _ = s.open(answer)
			}
		})
	})
}

func FuzzAnswerOfACollector(f *testing.F) {
	for _, one := range rowsOf(vectorsOf(f, "exchange"), "answers") {
		content, _ := hex.DecodeString(asString(one["content"]))
		f.Add(int(real(one["status"])), content)
	}
	f.Fuzz(func(t *testing.T, status int, content []byte) {
		if fate, _, _ := judge("00", status, content); fate == "acknowledged" && status/100 != 2 && status != 409 {
			t.Error(status)
		}
		isUsable(string(content))
	})
}

// FuzzAccount gives events a state that was changed by hand.
func FuzzAccount(f *testing.F) {
	for _, scenario := range rowsOf(vectorsOf(f, "account"), "scenarios") {
		for i, one := range rowsOf(scenario, "steps") {
			if i < 3 {
				f.Add(write(scenario["open"]), write(one["event"]))
			}
		}
	}
	_, _, campaign := signedCampaign(f)
	f.Add(`{"consent":true,"agreed":{"00":{"questions":[1],"begins":"2020-01-01","ends":1}}}`, "")
	general, record := campaign.shown(nil, nil)
	f.Add(write(object{"agreed": object{general: record}}), "https://a.example")
	f.Fuzz(func(t *testing.T, state, event string) {
		read(func() { withheld(asObject(parse(state)), campaign, event) })
		read(func() {
			_, read := readKept(write(object{"key": digest("", 64), "state": parse(state)}))
			after := happens(read, asObject(parse(event)), policyOf(Policy{}))
			if after.next != nil {
				ordered(after.next)
				overviewOf(after.next, 0)
				erase(after.next)
			}
		})
	})
}
