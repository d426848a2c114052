package dither

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// checks are what tests/conformance/test_go.py runs: dither.test -check numbers, and others. The lines are the ones of
// standard input.
var checks = map[string]func(ctx context.Context, lines, words []string) error{
	"numbers": func(_ context.Context, lines, _ []string) error { // the bits of doubles
		for _, line := range lines {
			read, err := strconv.ParseUint(line, 16, 64)
			if err != nil {
				return err
			}
			fmt.Println(write(math.Float64frombits(read)))
		}
		return nil
	},
	"signatures": func(_ context.Context, lines, _ []string) error { // message, signature, key
		for _, line := range lines {
			parts := strings.Split(line, ",")
			message, _ := hex.DecodeString(parts[0])
			fmt.Println(isSigned(string(message), parts[1], parts[2]))
		}
		return nil
	},
	"answers":  answersOf,  // FILE ADDRESS KEY COUNT: says each identity and how it ended
	"all":      allOf,      // ADDRESS KEY, and values by question: answers each, and sends
	"send":     sendOf,     // FILE ADDRESS KEY [RELAY CONFIGURATION]
	"hostile":  hostileOf,  // ADDRESS COUNT SECONDS, a campaign and its key: the fate of a report that is sent to ADDRESS/n
	"presence": presenceOf, // FILE ADDRESS KEY [back]: two uses of a campaign; the message is taken back if there is a further word
	"changes":  changesOf,  // LAST COUNT, and a campaign with a life: the reports of people on three days of a period up to LAST
	"show": func(ctx context.Context, _, words []string) error {
		return NewFileStore(words[0]).Update(ctx, func(kept string) (string, error) {
			fmt.Println(kept)
			return "", nil
		})
	},
	"writes": func(ctx context.Context, _, words []string) error { // FILE COUNT
		count, _ := strconv.Atoi(words[1])
		for i := range count {
			if err := NewFileStore(words[0]).Update(ctx, func(string) (string, error) { return strconv.Itoa(i), nil }); err != nil {
				return err
			}
		}
		return nil
	},
}

func runCheck(name string, words []string) error {
	var lines []string
	if name == "numbers" || name == "signatures" || name == "hostile" || name == "all" || name == "changes" {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<26)
		for in.Scan() {
			lines = append(lines, in.Text())
		}
	}
	return checks[name](context.Background(), lines, words)
}

func answersOf(ctx context.Context, _, words []string) error {
	campaign, err := FetchFollowing(ctx, words[1], words[2], Direct{}, NewFileStore(words[0]+".askers"))
	if err != nil {
		return err
	}
	device, err := Open(ctx, NewFileStore(words[0]), Terms{Epsilon: 100_000})
	if err != nil {
		return err
	}
	count, _ := strconv.Atoi(words[3])
	values := map[string]any{"minutes": 42, "browser": "chrome"}
	for i := range count {
		inquiry, err := device.Ask(campaign, []string{"minutes", "browser"}[i%2])
		if err != nil {
			return err
		}
		identity := fresh(system, 16)
		outcome, err := device.AnswerAs(ctx, identity, inquiry, values[inquiry.name()])
		if err != nil {
			return err
		}
		fmt.Println(identity, outcome.Is)
	}
	return nil
}

// memory is a store that nobody waits for.
type memory struct{ text string }

func (m *memory) Update(_ context.Context, change func(kept string) (string, error)) error {
	next, err := change(m.text)
	if err == nil && next != "" {
		m.text = next
	}
	return err
}

func allOf(ctx context.Context, lines, words []string) error {
	campaign, err := Fetch(ctx, words[0], words[1], Direct{})
	if err != nil {
		return err
	}
	device, err := Open(ctx, &memory{}, Terms{Epsilon: 1000, Policy: Policy{Epsilon: 5}})
	if err != nil {
		return err
	}
	values := asObject(parse(lines[0]))
	for _, name := range campaign.Questions() {
		inquiry, err := device.Ask(campaign, name)
		if err != nil {
			return err
		}
		if outcome, err := device.Answer(ctx, inquiry, values[name]); err != nil || outcome.Is != "drawn" {
			return fmt.Errorf("%s: %v %w", name, outcome, err)
		}
	}
	sent, err := device.Send(ctx, campaign, Sending{})
	fmt.Println(write(object{"sent": float64(sent.Sent), "waiting": float64(sent.Waiting), "refused": plain(sent.Refused)}))
	return err
}

func sendOf(ctx context.Context, _, words []string) error {
	var transport Transport = Direct{}
	if len(words) > 3 {
		relay, err := NewRelay(words[3], words[4], transport)
		if err != nil {
			return err
		}
		transport = relay
	}
	campaign, err := Fetch(ctx, words[1], words[2], transport)
	if err != nil {
		return err
	}
	device, err := Open(ctx, NewFileStore(words[0]), Terms{Epsilon: 100_000})
	if err != nil {
		return err
	}
	sent, err := device.Send(ctx, campaign, Sending{Transport: transport})
	fmt.Println(sent.Sent, sent.Waiting, sent.Refused, sent.RetryAfter)
	return err
}

func presenceOf(ctx context.Context, _, words []string) error {
	campaign, err := Fetch(ctx, words[1], words[2], Direct{})
	if err != nil {
		return err
	}
	device, err := Open(ctx, NewFileStore(words[0]), Terms{Epsilon: 9, Policy: Policy{Epsilon: 9}})
	if err != nil {
		return err
	}
	for range 2 {
		used, err := device.Present(ctx, campaign, nil)
		if err != nil {
			return err
		}
		sent, err := device.Send(ctx, campaign, Sending{Label: "1.0"})
		if err != nil {
			return err
		}
		fmt.Println(strings.NewReplacer("drawn", "used", "present", "used").Replace(used.Is), sent.Sent, sent.Waiting, sent.Refused)
	}
	if len(words) < 4 {
		return nil
	}
	before, err := device.Account(ctx)
	if err != nil {
		return err
	}
	done, err := device.TakeBack(ctx, campaign, Sending{})
	if err != nil {
		return err
	}
	after, err := device.Account(ctx)
	if err != nil {
		return err
	}
	used, err := device.Present(ctx, campaign, nil)
	fmt.Printf("%d\n%d %d %v\n%s %d\n", len(before.Deletable), done.Withdrawn, done.Unsent, done.Refused, used.Is, len(after.Deletable))
	return err
}

func changesOf(ctx context.Context, lines, words []string) error {
	given := asObject(parse(lines[0]))
	campaign, err := ReadCampaign(asString(given["published"]), asString(given["key"]))
	if err != nil {
		return err
	}
	life := asList(given["life"])
	last, _ := strconv.Atoi(words[0])
	people, _ := strconv.Atoi(words[1])
	for range people {
		store := &memory{}
		for days := 1; days <= len(life); days += 4 {
			now := func() Moment { return Moment{Wall: daySeconds * int64(last-len(life)+days), Boot: "one"} }
			device, err := Open(ctx, store, Terms{Epsilon: 100, Policy: Policy{Epsilon: 5}, Now: now}) // opened again each time
			if err != nil {
				return err
			}
			inquiry, err := device.Ask(campaign, "smokes")
			if err != nil {
				return err
			}
			for _, value := range []any{life[:days], "no", life[:1]} {
				if _, err := device.Answer(ctx, inquiry, value); err != nil {
					return err
				}
			}
		}
		_, state := readKept(store.text)
		for _, row := range rowsOf(state, "queue") {
			fmt.Print(row["report"])
		}
		fmt.Println()
	}
	return nil
}

func hostileOf(ctx context.Context, lines, words []string) error {
	campaign, err := ReadCampaign(lines[0], lines[1])
	if err != nil {
		return err
	}
	count, _ := strconv.Atoi(words[1])
	seconds, _ := strconv.ParseFloat(words[2], 64)
	now := func() Moment { return Moment{Wall: campaign.lastDay() * daySeconds, Boot: "boot"} }
	deadline := time.Duration(3 * seconds * float64(time.Second))
	var device *Device
	waiting := false
	for n := range count {
		if n%200 == 0 { // an account with thousands of answers is slow
			if device, err = Open(ctx, &memory{}, Terms{Epsilon: 100_000, Now: now}); err != nil {
				return err
			}
			waiting = false
		}
		if !waiting {
			inquiry, err := device.Ask(campaign, "minutes")
			if err != nil {
				return err
			}
			if _, err := device.Answer(ctx, inquiry, 42); err != nil {
				return err
			}
		}
		address := fmt.Sprintf("%s/%d/batches", words[0], n)
		sent, err := device.Send(ctx, campaign, Sending{Address: address, Transport: Direct{Deadline: deadline}})
		if err != nil {
			return err
		}
		waiting = sent.Waiting > 0
		switch {
		case sent.Sent > 0:
			fmt.Println("acknowledged")
		case waiting:
			fmt.Println("kept")
		default:
			fmt.Println("dropped")
		}
	}
	return nil
}
