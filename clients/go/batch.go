package dither

import (
	"cmp"
	"encoding/hex"
	"slices"
)

// A batch travels: an identity, a public label, and reports, grouped by fingerprint and sorted, so that it
// has the same bytes at every sending and the order in which they were drawn does not show.

type group struct {
	fingerprint string
	reports     []string
}

func groupsOf(reports []object) (groups []group) {
	sorted := slices.SortedFunc(slices.Values(reports), func(a, b object) int {
		return cmp.Or(cmp.Compare(asString(a["fingerprint"]), asString(b["fingerprint"])), cmp.Compare(asString(a["report"]), asString(b["report"])))
	})
	for _, row := range sorted {
		mark, report := row["fingerprint"].(string), row["report"].(string)
		if len(groups) == 0 || groups[len(groups)-1].fingerprint != mark {
			groups = append(groups, group{fingerprint: mark})
		}
		last := &groups[len(groups)-1]
		last.reports = append(last.reports, report)
	}
	return groups
}

// jsonBody returns a batch as canonical JSON.
func jsonBody(id, label string, reports []object) string {
	by := object{}
	for _, one := range groupsOf(reports) {
		listed := make([]any, len(one.reports))
		for i, report := range one.reports {
			listed[i] = report
		}
		by[one.fingerprint] = listed
	}
	return write(object{"batch": id, "dither": 2.0, "label": label, "reports": by})
}

// packedBody returns a batch as packed bytes.
func packedBody(id, label string, reports []object) []byte {
	needs(len(label) <= 64, "asking", "a label has at most 64 bytes")
	groups := groupsOf(reports)
	body := append([]byte("dither\x00\x02"), unhex(id)...)
	body = append(append(body, byte(len(label))), label...)
	body = inBytes(body, uint64(len(groups)), 2)
	for _, one := range groups {
		body = append(body, unhex(one.fingerprint)...)
		body = inBytes(inBytes(body, uint64(len(one.reports[0])/2), 4), uint64(len(one.reports)), 4)
		for _, report := range one.reports {
			body = append(body, unhex(report)...)
		}
	}
	sum, _ := hex.DecodeString(digest(string(body), 32))
	return append(body, sum...)
}

// judge returns the fate of a batch after an answer: acknowledged, dropped or kept; and the collector's word
// and sentence if it was refused. It is acknowledged only by a 2xx that names it, or by a conflict: these
// reports are stored, sent before under another label. It is dropped only if the collector has a word for it:
// what a proxy, a portal or another page says is not an answer of the collector.
func judge(id string, status int, content []byte) (fate, word, words string) {
	said, err := parsed(content)
	if err != nil {
		return "kept", "", ""
	}
	word, _ = said["refused"].(string)
	words, _ = said["words"].(string)
	switch {
	case status/100 == 2 && said["batch"] == id, status == 409 && word == "conflict":
		return "acknowledged", word, words
	case word != "" && word != "sealed" && word != "label" && slices.Contains([]int{400, 410, 413, 415, 422}, status):
		return "dropped", word, words
	}
	return "kept", word, words
}

func parsed(content []byte) (said object, err error) {
	defer catch(&err)
	need(len(content) <= mostAnswer, "text")
	return asObject(parse(string(content))), nil
}

// withdrawalBody returns the request for a collector to delete a batch.
func withdrawalBody(id string) string { return write(object{"dither": 2.0, "withdraw": id}) }

// judgeWithdrawal returns whether an answer says that a batch is withdrawn, and the collector's word if it
// was refused.
func judgeWithdrawal(id string, status int, content []byte) (withdrawn bool, word string) {
	said, err := parsed(content)
	if err != nil {
		return false, ""
	}
	word, _ = said["refused"].(string)
	return status/100 == 2 && said["withdrawn"] == id, word
}
