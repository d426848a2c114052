package dither

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var check = flag.String("check", "", "a check of tests/conformance/test_go.py")

var answers = flag.Bool("answer", false, "answer requests on standard input, as clients/conformance/README.md says")

func TestMain(m *testing.M) {
	flag.Parse()
	if *answers {
		answerLines(os.Stdin, os.Stdout)
		return
	}
	if *check != "" {
		if err := runCheck(*check, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var specifications = map[string]*Question{}

// questionOf reads a specification; an empty text means the one before.
func questionOf(specification string) *Question {
	if specifications[specification] == nil {
		specifications[specification] = readQuestion(specification)
	}
	specifications[""] = specifications[specification]
	return specifications[""]
}

func answerLines(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	written := bufio.NewWriter(out)
	defer written.Flush()
	for lines.Scan() {
		query := asObject(parse(lines.Text()))
		reply := answerTo(query)
		reply["id"] = query["id"]
		fmt.Fprintln(written, write(reply))
	}
}

// research are draws for comparisons that this client leaves out.
var research = []string{"sectors", "walk", "rings", "points", "grid", "two copies", "joint response", "joint bits", "joint hashed"}

func isResearch(specification string) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return slices.Contains(research, readHead(specification).kind)
}

func answerTo(query object) (reply object) {
	defer func() {
		switch found := recover().(type) {
		case nil:
		case *Error:
			reply = object{"refused": found.Reason}
			for _, one := range append(rowsOf(query, "asks"), query) {
				if specification, ok := one["specification"].(string); ok && isResearch(specification) {
					reply = object{"unknown": true}
				}
			}
		default:
			reply = object{"error": fmt.Sprint(found)}
		}
	}()
	text := func(name string) string { return asString(query[name]) }
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	switch query["do"] {
	case "draw":
		script := bytes.NewReader(unhex(text("bytes")))
		question := questionOf(text("specification"))
		input := question.drawing.input(plain(query["value"]))
		if input == nil {
			return object{"report": nil, "left": float64(script.Len())}
		}
		report := question.drawing.draw(input, source{script})
		return object{"report": hex.EncodeToString(report), "left": float64(script.Len())}
	case "read":
		return object{"fingerprint": readQuestion(text("specification")).Fingerprint}
	case "campaign":
		campaign, err := ReadCampaign(text("published"), text("key"))
		must(err)
		asks := []any{}
		for _, name := range campaign.Questions() {
			if campaign.CanAnswer(name) {
				asks = append(asks, campaign.terms.accountTerms(campaign.ID, name))
			} else {
				asks = append(asks, object{"question": name, "unknown": true})
			}
		}
		reply := object{"campaign": campaign.ID, "retired": nil, "asks": asks}
		if campaign.Retired != "" {
			reply["retired"] = campaign.Retired
		}
		return reply
	case "value":
		campaign, err := ReadCampaign(text("published"), text("key"))
		must(err)
		return object{"taken": campaign.terms.value(text("question"), plain(query["value"]))}
	case "words":
		campaign, err := ReadCampaign(text("published"), text("key"))
		must(err)
		var languages []string
		for _, one := range asList(query["languages"]) {
			languages = append(languages, asString(one))
		}
		labels := []any{}
		for _, one := range campaign.Answers(text("question"), languages...) {
			labels = append(labels, object{"value": one.Value, "text": one.Text})
		}
		return object{"text": campaign.Text(text("question"), languages...), "labels": labels}
	case "open":
		campaign, err := ReadCampaign(text("published"), text("key"))
		must(err)
		return object{"open": campaign.IsOpen(dayOf(query["day"])), "listed": campaign.Takes(text("label"))}
	case "bound":
		return object{"below": expBelow(real(query["epsilon"])).Text(16)}
	case "batch":
		reports := rowsOf(query, "reports")
		return object{
			"json":   jsonBody(text("batch"), text("label"), reports),
			"packed": hex.EncodeToString(packedBody(text("batch"), text("label"), reports)),
		}
	case "fate":
		fate, _, _ := judge(text("batch"), int(integerIn(query["status"], 100, 599)), unhex(text("content")))
		return object{"fate": fate}
	case "address":
		need(isUsable(text("address")), "address")
		return object{"used": true}
	case "list":
		list := readPublished(text("published"), text("key"))
		need(list.continues(query["kept"]), "list")
		return object{"count": float64(len(list.heads)), "head": list.heads[len(list.heads)-1]}
	case "request":
		plain, err := binaryRequest(text("method"), text("address"), text("form"), unhex(text("body")))
		must(err)
		return object{"plain": hex.EncodeToString(bytes.TrimRight(plain, "\x00")), "length": float64(len(plain))}
	case "response":
		answer, err := binaryResponse(unhex(text("plain")))
		must(err)
		return object{"status": float64(answer.Status), "content": hex.EncodeToString(answer.Content)}
	case "encapsulate":
		configuration := readConfiguration(query["configuration"])
		if !drawEphemeral(unhex(text("ephemeral"))) {
			return object{"unknown": true}
		}
		s, err := configuration.seal(unhex(text("plain")))
		must(err)
		reply := object{"sealed": hex.EncodeToString(s.request)}
		if has(query, "answer") {
			opened, err := s.open(unhex(text("answer")))
			must(err)
			reply["opened"] = hex.EncodeToString(opened)
		}
		return reply
	case "withdrawal":
		return object{"body": withdrawalBody(text("batch"))}
	case "withdrawn":
		withdrawn, _ := judgeWithdrawal(text("batch"), int(integerIn(query["status"], 100, 599)), unhex(text("content")))
		return object{"withdrawn": withdrawn}
	case "account":
		policy := policyOf(Policy{})
		if query["policy"] != nil {
			policy = asObject(query["policy"])
		}
		state := upgraded(asObject(query["state"]))
		after := happens(state, asObject(query["event"]), policy)
		if after.next != nil {
			state = ordered(after.next)
		}
		return object{"outcome": after.outcome, "state": state}
	case "change":
		question := questionOf(text("specification"))
		number := func(name string) int { return int(long(query[name])) }
		group := number("group")
		due := &owed{group: group, changes: number("changes"), all: intervalsOf(group, number("days")), before: number("before"), until: number("intervals")}
		keyed, drawn := bytes.NewReader(unhex(text("keyed"))), bytes.NewReader(unhex(text("bytes")))
		codes := asList(codesOf(question, query["values"]))
		rows, now := rowsOfChange(question, codes, due, number("reported"), source{keyed}, source{drawn})
		mark := changeMark(question, query["days"], query["changes"])
		return object{"fingerprint": mark, "report": hex.EncodeToString(rows), "reported": float64(now), "left": float64(keyed.Len() + drawn.Len())}
	case "permanent":
		reports := []any{}
		for _, one := range rowsOf(query, "asks") {
			question := questionOf(asString(one["specification"]))
			named := with(one, "fingerprint", question.Fingerprint)
			input := question.drawing.input(plain(one["value"]))
			report := question.drawing.draw(input, keyed(asString(one["key"]), named, input, 0))
			reports = append(reports, hex.EncodeToString(report))
		}
		return object{"reports": reports}
	}
	return object{"unknown": true}
}

// drawingOf returns what an event of the vectors draws.
func drawingOf(event object) *answering {
	text := func(name string) func() string {
		return func() string {
			found, _ := event[name].(string)
			return found
		}
	}
	change := func(*owed) (string, int, bool) { return text("report")(), int(long(event["mark"])), true }
	return &answering{text("report"), text("mark"), change, source{bytes.NewReader(unhex(text("random")()))}}
}

func happens(state, event, policy object) step {
	id, _ := event["id"].(string)
	switch event["do"] {
	case "answer":
		return answer(state, id, asObject(event["question"]), policy, asObject(event["at"]), drawingOf(event))
	case "dry run":
		outcome := maps.Clone(answer(state, id, asObject(event["question"]), policy, asObject(event["at"]), nil).outcome)
		delete(outcome, "report")
		return step{outcome: outcome}
	case "act":
		return act(state, asObject(event["at"]))
	case "batch":
		listed, some := event["questions"].([]any)
		return batch(state, id, int(integerIn(event["most"], 0, 1<<30)), func(row object) bool {
			return row["asker"] == event["asker"] && (!some || slices.ContainsFunc(listed, func(pair any) bool {
				return equal(pair, []any{row["question"], row["fingerprint"]})
			}))
		})
	case "drop":
		return drop(state, id)
	case "acknowledge":
		sent, _ := event["sent"].(object)
		return acknowledge(state, id, sent)
	case "withdraw":
		return withdraw(state, id)
	case "present":
		query, _ := event["question"].(object)
		return present(state, id, asObject(event["presence"]), query, policy, asObject(event["at"]), drawingOf(event))
	case "message":
		query, _ := event["question"].(object)
		return message(state, asObject(event["presence"]), query, asObject(event["at"]))
	case "split":
		share := pairOf(event["share"])
		return split(state, asString(event["device"]), int64(share[0]), int64(share[1]))
	}
	return merge(state, asObject(event["from"]))
}

func TestNumbersAreWrittenAsECMAScriptDoes(t *testing.T) {
	for x, text := range map[float64]string{1e21: "1e+21", 1e-7: "1e-7", 123456789012345680000: "123456789012345680000",
		0.1: "0.1", 5e-324: "5e-324", 1e-6: "0.000001", -1.5: "-1.5", 1.25e-9: "1.25e-9"} {
		if got := write(x); got != text {
			t.Errorf("%s for %s", got, text)
		}
	}
	if got := write(object{"\uffff": 1.0, "\U00010000": 2.0}); !strings.HasPrefix(got, "{\"\U00010000\"") {
		t.Error("keys are not in the order of UTF-16")
	}
}

// orders are the fields by which lists of the state are sorted where they are compared and exported.
var orders = map[string][]string{
	"entries": {"id"}, "answers": append(questionFields, "permanent"),
	"choices": append(questionFields, "repeat", "period"), "coins": {"asker", "name"},
	"present": {"asker", "name"}, "trees": append(questionFields, "period"),
}

// compareFields compares two texts by their UTF-16 code units, or two numbers.
func compareFields(a, b any) int {
	if text, ok := a.(string); ok {
		return byUnits(text, asString(b))
	}
	return cmp.Compare(real(a), real(b))
}

// ordered returns a state with its lists in the order of docs/account.md. A store keeps them as they came.
func ordered(state object) object {
	sorted := maps.Clone(state)
	for name, fields := range orders {
		if state[name] == nil {
			continue
		}
		rows := rowsOf(state, name)
		slices.SortStableFunc(rows, func(a, b object) int {
			for _, field := range fields {
				if order := compareFields(a[field], b[field]); order != 0 {
					return order
				}
			}
			return 0
		})
		sorted[name] = listOf(rows)
	}
	if marks, ok := state["told"].([]any); ok {
		sorted["told"] = slices.SortedFunc(slices.Values(marks), compareFields)
	}
	return sorted
}
