package telemetry

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// FuzzFilesOfATool changes what a tool keeps, consent and account, by hand: commands and answers say what is wrong, and
// no panic is behind it.
func FuzzFilesOfATool(f *testing.F) {
	f.Add("on\n", "")
	f.Add(`{"":null}`, `{"key":"","state":{}}`)
	for _, part := range []string{"queue", "entries", "limits", "own", "clock", "epsilon", "id", "wall", "born", "asker", "batch", "choices", "askers", "answers", "first"} {
		for _, value := range []string{"[]", "{}", "null", "[1]", "[{}]", "-1", "1e300", `""`} {
			f.Add("", part+"="+value)
		}
	}
	f.Fuzz(func(t *testing.T, consent, account string) {
		use := started(t)
		says(t, use, "on", "Telemetry is on.")
		answered(t, use, "travel", "bus", "drawn")
		kept, err := os.ReadFile(use.path("account.text"))
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(kept), "\n")
		// One part of the account is changed, so that the readers behind its form are reached.
		if name, value, ok := strings.Cut(account, "="); ok {
			if before, after, found := strings.Cut(text, `"`+name+`":`); found {
				text = before + `"` + name + `":` + value + after[min(len(after), strings.IndexAny(after+",", ",}]")):]
			}
		} else {
			text = account
		}
		for name, content := range map[string]string{"consent": consent, "account.text": fmt.Sprintf("%x\n%s", sha256.Sum256([]byte(text)), text)} {
			if name == "consent" && consent == "" {
				continue
			}
			if err := os.WriteFile(use.path(name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, action := range []string{"status", "show", "answer", "off", "on", "send", "take-back", "erase"} {
			switch action {
			case "answer":
				use.Answer("travel", "bus")
			case "send":
				use.Send(t.Context())
			default:
				use.Run(action)
			}
			if strings.Contains(use.Problem(), "mistake") {
				t.Fatal(action, use.Problem())
			}
		}
	})
}
