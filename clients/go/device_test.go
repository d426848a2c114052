package dither

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// vectorsOf returns one file of clients/conformance/2; the test is skipped without it.
func vectorsOf(t testing.TB, name string) object {
	content, err := os.ReadFile("../conformance/2/" + name + ".json")
	if err != nil {
		t.Skip("no vectors next to this folder")
	}
	return asObject(parse(string(content)))
}

// signedCampaign returns a campaign that is open until 2120, with the questions minutes (a number) and travel
// (bus or car); some terms may be other ones.
func signedCampaign(t testing.TB, other ...object) (published, key string, campaign *Campaign) {
	vectors := vectorsOf(t, "consent")
	first := asObject(parse(asString(asObject(asObject(vectors["campaigns"])["first"])["published"])))
	terms := asObject(parse(asString(first["campaign"])))
	terms["repeat"], terms["labels"] = "fresh", []any{"1.0", "test"}
	for _, one := range other {
		maps.Copy(terms, one)
	}
	public, private, _ := ed25519.GenerateKey(nil)
	text := write(terms)
	signature := hex.EncodeToString(ed25519.Sign(private, []byte("dither campaign 2\n"+text)))
	key = hex.EncodeToString(public)
	published = write(object{"campaign": text, "key": key, "signature": signature, "retired": nil})
	campaign, err := ReadCampaign(published, key)
	if err != nil {
		t.Fatal(err)
	}
	return published, key, campaign
}

func opening(t testing.TB, terms Terms) (*Device, string) {
	path := filepath.Join(t.TempDir(), "me.account")
	device, err := Open(t.Context(), NewFileStore(path), terms)
	if err != nil {
		t.Fatal(err)
	}
	return device, path
}

func asking(t testing.TB, device *Device, campaign *Campaign, name string) *Inquiry {
	inquiry, err := device.Ask(campaign, name)
	if err != nil {
		t.Fatal(err)
	}
	return inquiry
}

func expectError(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("expected %v, got %v", target, err)
	}
}

func expect[T comparable](t *testing.T, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("expected %v, got %v", wanted, got)
	}
}

func TestAnAnswerIsChargedOnceAndSurvives(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	device, path := opening(t, Terms{Epsilon: 3})
	travel := asking(t, device, campaign, "travel")
	dry, err := device.DryRun(t.Context(), travel)
	if err != nil || dry.Is != "drawn" {
		t.Fatal(dry, err)
	}
	id := strings.Repeat("0123456789abcdef", 2)
	for _, wanted := range []string{"drawn", "resent"} {
		got, err := device.AnswerAs(t.Context(), id, travel, "bus")
		if err != nil || got.Is != wanted || wanted == "drawn" && got.Charged != 1 {
			t.Fatal(got, err)
		}
	}
	other, err := Open(t.Context(), NewFileStore(path), Terms{Epsilon: 99})
	if err != nil {
		t.Fatal(err)
	}
	overview, err := other.Account(t.Context())
	if err != nil || len(overview.Given) != 1 || math.Abs(overview.Left-2) > 1e-12 || overview.Waiting != 1 {
		t.Error(overview, err)
	}
	for _, wanted := range []string{"drawn", "drawn", "refused"} {
		got, err := other.Answer(t.Context(), travel, "car")
		if err != nil || got.Is != wanted || wanted == "refused" && got.Reason != "budget" {
			t.Error(got, err)
		}
	}
	before, err := other.Erase(t.Context())
	if err != nil || len(before.Given) != 3 {
		t.Error(before, err)
	}
	after, _ := other.Account(t.Context())
	expect(t, after.Left, 0)
	expect(t, after.Waiting, 0)
	expect(t, after.Given[0].Asker, "")
}

func TestValuesOfManyTypes(t *testing.T) {
	type label string
	_, _, campaign := signedCampaign(t)
	device, _ := opening(t, Terms{Epsilon: 1000})
	for _, one := range []struct {
		name   string
		value  any
		wanted string
	}{
		{"travel", label("bus"), "drawn"}, {"travel", "plane", "value"}, {"travel", nil, "value"}, {"travel", []int{1}, "value"},
		{"minutes", 7, "drawn"}, {"minutes", uint8(7), "drawn"}, {"minutes", float32(7.5), "drawn"}, {"minutes", -1e300, "drawn"},
		{"minutes", "7", "value"}, {"minutes", true, "value"}, {"minutes", func() {}, "value"}, {"minutes", struct{ X int }{1}, "value"},
		{"minutes", map[any]any{1: 2}, "value"}, {"minutes", new(7), "drawn"}, {"minutes", 1 << 62, "drawn"},
	} {
		got, err := device.Answer(t.Context(), asking(t, device, campaign, one.name), one.value)
		if err != nil || got.Is != one.wanted && got.Reason != one.wanted {
			t.Errorf("%s %T: %v %v", one.name, one.value, got, err)
		}
	}
	var loop []any
	loop = append(loop, &loop)
	if got, err := device.Answer(t.Context(), asking(t, device, campaign, "minutes"), loop); err != nil || got.Reason != "value" {
		t.Error(got, err)
	}
	travel, err := asking(t, device, campaign, "travel").Otherwise("car")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := device.Answer(t.Context(), travel, "plane")
	expect(t, got.Is, "drawn")
	_, err = asking(t, device, campaign, "travel").Otherwise("plane")
	expectError(t, err, ErrAsking)
}

func TestErrorsAreFoundByErrorsIs(t *testing.T) {
	published, key, campaign := signedCampaign(t)
	device, path := opening(t, Terms{Epsilon: 2})
	_, err := ReadCampaign(published, strings.Repeat("0", 64))
	expectError(t, err, ErrKey)
	expect(t, err.Error(), "dither: signed with another key, or a key that is not accepted") // a reason has a sentence
	_, err = ReadCampaign(strings.Replace(published, "bus lines", "bus Lines", 1), key)
	expectError(t, err, ErrSignature)
	_, err = ReadCampaign("{", key)
	expectError(t, err, ErrText)
	_, err = campaign.Question("nothing")
	expectError(t, err, ErrAsking)
	_, err = ReadQuestion(`{"dither":1}`)
	expectError(t, err, ErrVersion)
	_, err = Open(t.Context(), NewFileStore(path), Terms{})
	expectError(t, err, ErrEpsilon)
	_, err = device.Send(t.Context(), campaign, Sending{Label: "none", Address: "https://a.example/"})
	expectError(t, err, ErrLabel)
	_, err = Direct{}.Send(t.Context(), "GET", "http://a.example/", "", nil)
	expectError(t, err, ErrAddress)
	_, err = NewRelay("https://a.example/", "00", Direct{})
	expectError(t, err, ErrKey)
	content, _ := os.ReadFile(path)
	for _, damaged := range [][]byte{nil, content[:len(content)-1], append(bytes.Clone(content), 'x'), bytes.Replace(content, []byte("wall"), []byte("Wall"), 1)} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), NewFileStore(path), Terms{Epsilon: 2})
		expectError(t, err, ErrAccount)
		_, err = device.Answer(t.Context(), asking(t, device, campaign, "travel"), "bus")
		expectError(t, err, ErrAccount)
	}
}

func TestNobodyWaitsForEver(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	device, path := opening(t, Terms{Epsilon: 2})
	lock, err := os.OpenFile(path+".lock", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if free, err := tryLock(lock); !free || err != nil {
		t.Fatal(free, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = device.Answer(ctx, asking(t, device, campaign, "travel"), "bus")
	expectError(t, err, ErrBusy)
	expectError(t, err, context.DeadlineExceeded)
}

func TestManyGoroutinesAndProcessesTakeTurns(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	device, path := opening(t, Terms{Epsilon: 10})
	var group sync.WaitGroup
	for range 4 {
		other, err := Open(t.Context(), NewFileStore(path), Terms{Epsilon: 10}) // like another process
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []*Device{device, other} {
			group.Go(func() {
				for range 2 {
					if _, err := one.Answer(t.Context(), asking(t, one, campaign, "travel"), "bus"); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	overview, err := device.Account(t.Context())
	if err != nil || len(overview.Given) != 10 || overview.Waiting != 10 || overview.Left != 0 {
		t.Error(overview, err)
	}
}

func TestSendingKeepsTheSameBytesAndConsentStopsIt(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	device, _ := opening(t, Terms{Epsilon: 100})
	for range 3 {
		for _, name := range []string{"travel", "minutes"} {
			if _, err := device.Answer(t.Context(), asking(t, device, campaign, name), map[string]any{"travel": "car", "minutes": 9}[name]); err != nil {
				t.Fatal(err)
			}
		}
	}
	var bodies []string
	answers := []string{`{}`, `<html>`, ``, `{"refused":"body","words":"no"}`}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		bodies = append(bodies, body.String())
		switch at := len(bodies) - 1; {
		case at < 2:
			_, _ = w.Write([]byte(answers[at]))
		case at == 2:
			w.Header().Set("Retry-After", "999999")
			w.WriteHeader(503)
		case at == 3:
			w.WriteHeader(422)
			_, _ = w.Write([]byte(answers[at]))
		default:
			_, _ = w.Write([]byte(`{"batch":"` + hex.EncodeToString(body.Bytes()[8:24]) + `"}`))
		}
	}))
	defer server.Close()
	how := Sending{Address: server.URL + "/batches"}
	for at := range 3 {
		sent, err := device.Send(t.Context(), campaign, how)
		if err != nil || sent.Sent != 0 || sent.Waiting != 6 || len(sent.Refused) != 1 || (sent.RetryAfter >= 86_400) != (at == 2) {
			t.Fatal(at, sent, err)
		}
	}
	expect(t, bodies[0], bodies[1])
	expect(t, bodies[0], bodies[2])
	how.Allowed = func() bool { return false }
	sent, err := device.Send(t.Context(), campaign, how)
	if err != nil || sent.Refused[0] != "consent" || len(bodies) != 3 || sent.Waiting != 6 {
		t.Fatal(sent, err)
	}
	how.Allowed = nil
	before := runtime.NumGoroutine()
	sent, err = device.Send(t.Context(), campaign, how)
	if err != nil || sent.Sent != 4 || sent.Dropped != 2 || sent.Waiting != 0 || len(bodies) != 6 {
		t.Fatal(sent, err)
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+2; time.Sleep(time.Millisecond) { // the ones of the server
		if time.Now().After(end) {
			t.Fatal("goroutines were left behind")
		}
	}
}

// chosen keeps a choice, and returns how many reports wait then.
func chosen(t *testing.T, device *Device, campaign *Campaign, yes bool) int {
	if err := device.SetConsent(t.Context(), campaign, yes); err != nil {
		t.Fatal(err)
	}
	overview, err := device.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return overview.Waiting
}

func consents(t *testing.T, device *Device, campaign *Campaign, wanted bool) {
	t.Helper()
	if may, err := device.Consent(t.Context(), campaign); may != wanted || err != nil {
		t.Error(may, err)
	}
}

func TestAYesCoversWhatWasShownOfACampaign(t *testing.T) {
	vectors := vectorsOf(t, "consent")
	device, _ := opening(t, Terms{Epsilon: 9})
	campaigns := map[string]*Campaign{}
	for name, one := range asObject(vectors["campaigns"]) {
		campaign, err := ReadCampaign(asString(asObject(one)["published"]), asString(vectors["key"]))
		if err != nil {
			t.Fatal(err)
		}
		campaigns[name] = campaign
		consents(t, device, campaign, true) // without a request
	}
	chosen(t, device, campaigns["first"], true)
	for name, one := range asObject(vectors["campaigns"]) {
		consents(t, device, campaigns[name], asObject(one)["covered"] == true)
	}
	consents(t, device, nil, false)
	chosen(t, device, campaigns["first"], false)
	consents(t, device, campaigns["first"], false)
}

func TestWhatWaitedAtANoIsNeverSent(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	_, _, present := signedCampaign(t, object{"name": "presence", "repeat": "present", "every": "week", "expects": 100.0,
		"questions": []any{}, "promise": object{"epsilon": 0.0, "delta": nil, "assumptions": []any{}}})
	device, _ := opening(t, Terms{Epsilon: 100})
	answer := func(wanted string) {
		t.Helper()
		got, err := device.Answer(t.Context(), asking(t, device, campaign, "travel"), "bus")
		if err != nil || got.Is != wanted || wanted == "refused" && got.Reason != "consent" {
			t.Error(got, err)
		}
	}
	use := func(wanted string) {
		t.Helper()
		if got, err := device.Present(t.Context(), present, nil); err != nil || got.Is != wanted {
			t.Error(got, err)
		}
	}
	answer("drawn")
	use("present")
	expect(t, chosen(t, device, campaign, false), 2)
	answer("refused")
	use("refused") // of a campaign that the person was not shown
	sent, err := device.Send(t.Context(), campaign, Sending{Address: "http://127.0.0.1:1/batches"})
	if err != nil || len(sent.Refused) != 1 || sent.Refused[0] != "consent" {
		t.Error(sent, err)
	}
	expect(t, chosen(t, device, campaign, true), 1) // the message waits
	answer("drawn")
	expect(t, chosen(t, device, nil, false), 2)
	answer("refused")
	expect(t, chosen(t, device, present, true), 1) // and now it is gone
	expect(t, chosen(t, device, nil, true), 0)
	consents(t, device, present, true)
	consents(t, device, campaign, false)
}

func TestAValueOfPresenceIsRefusedBeforeTheCoin(t *testing.T) {
	_, _, other := signedCampaign(t)
	question := other.Terms()["questions"].([]any)[1]
	_, _, campaign := signedCampaign(t, object{"name": "presence", "repeat": "present", "every": "week", "expects": 1e6,
		"label_share": 999.0, "questions": []any{question}, "promise": object{"epsilon": 1.0, "delta": nil, "assumptions": []any{}}})
	wall := int64(0)
	device, path := opening(t, Terms{Epsilon: 9, Now: func() Moment { return Moment{Wall: wall, Boot: "boot"} }})
	use := func(value any, is, reason string) {
		t.Helper()
		if got, err := device.Present(t.Context(), campaign, value); err != nil || got.Is != is || got.Reason != reason {
			t.Error(got, err)
		}
	}
	use("bus", "refused", "early")
	wall = 4_800_000_000 // 2122
	use("bus", "refused", "ended")
	wall = 1_800_000_000
	before, _ := os.ReadFile(path)
	for range 8 {
		use("plane", "refused", "value")
		use(nil, "refused", "value")
	}
	after, _ := os.ReadFile(path)
	expect(t, string(after), string(before)) // no coin was tossed
	if got, err := device.Present(t.Context(), campaign, "bus"); err != nil || got.Is != "drawn" && got.Is != "present" {
		t.Error(got, err)
	}
	wall += 7 * daySeconds
	use("plane", "present", "") // the value counts once
}

func TestSignalsOfTheEnvironmentCountUntilSomebodyIsAsked(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	device, _ := opening(t, Terms{Epsilon: 9})
	for _, name := range []string{"DO_NOT_TRACK", "NO_TELEMETRY"} {
		t.Setenv(name, "1")
		consents(t, device, campaign, false)
		consents(t, device, nil, false)
		t.Setenv(name, "0")
		consents(t, device, campaign, true)
	}
	t.Setenv("DO_NOT_TRACK", "1")
	chosen(t, device, campaign, true)
	consents(t, device, campaign, true)
}

func TestACampaignIsFetchedAndItsListFollowed(t *testing.T) {
	published, key, campaign := signedCampaign(t)
	list := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/campaigns/"+campaign.ID):
			_, _ = w.Write([]byte(published))
		case strings.HasSuffix(r.URL.Path, "/list") && list != "":
			_, _ = w.Write([]byte(list))
		case strings.HasSuffix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "/v1/campaigns/"+campaign.ID, http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	address := server.URL + "/v1/campaigns/" + campaign.ID
	fetched, err := Fetch(t.Context(), address, key, Direct{})
	if err != nil || fetched.ID != campaign.ID || fetched.Address != address {
		t.Fatal(err)
	}
	_, err = Fetch(t.Context(), server.URL+"/moved", key, Direct{})
	expectError(t, err, ErrCampaign)
	_, err = Fetch(t.Context(), address+"/", key, Direct{})
	expectError(t, err, ErrCampaign)
	seen := NewFileStore(filepath.Join(t.TempDir(), "seen"))
	if _, err := FetchFollowing(t.Context(), address, key, Direct{}, seen); err != nil {
		t.Fatal(err)
	}
	list = `{"list":[],"key":"` + key + `"}`
	_, err = FetchFollowing(t.Context(), address, key, Direct{}, seen)
	expectError(t, err, ErrList)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Fetch(ctx, address, key, Direct{})
	expectError(t, err, ErrUnreachable)
	expectError(t, err, context.Canceled)
}

func TestWhatIsSealedIsOpenedByTheStandardLibrary(t *testing.T) {
	exchange := rowsOf(vectorsOf(t, "ohttp"), "exchanges")[0]
	configuration := readConfiguration(exchange["configuration"])
	plain, err := binaryRequest("POST", "https://a.example/v1/x", "text/plain", []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := configuration.seal(plain)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := configuration.seal(plain)
	expect(t, len(one.request), 55+1024)
	if bytes.Equal(one.request, two.request) {
		t.Error("an ephemeral key was used twice")
	}
	opened := openedBy(t, asString(exchange["private"]), one.request)
	if !bytes.Equal(opened, plain) {
		t.Error("it was not opened")
	}
}

// openedBy returns what the gateway of a private key reads.
func openedBy(t *testing.T, private string, request []byte) []byte {
	key, err := hpke.DHKEM(ecdh.X25519()).NewPrivateKey(unhex(private))
	if err != nil {
		t.Fatal(err)
	}
	info := append([]byte("message/bhttp request\x00"), request[:7]...)
	receiver, err := hpke.NewRecipient(request[7:39], key, hpke.HKDFSHA256(), hpke.AES128GCM(), info)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := receiver.Open(nil, request[39:])
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestDrawsHaveTheirFrequencies(t *testing.T) {
	_, _, campaign := signedCampaign(t)
	question, _ := campaign.Question("travel")
	const many = 40_000
	same := 0
	for range many {
		if question.drawing.draw(int64(1), system)[0] == 1 {
			same++
		}
	}
	share := float64(same) / many // e/(1 + e), with a standard deviation of 0.0022
	if share < 0.731-0.011 || share > 0.731+0.011 {
		t.Errorf("the share of true answers is %v", share)
	}
}
