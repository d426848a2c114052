package dither

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Transport sends a request and returns its answer: [Direct], a [Relay], or one of yours. No cookies, no
// redirects, no header that names the device. The server may be hostile: an exchange ends at its deadline,
// and an answer has a limit.
type Transport interface {
	// Send makes a request; form is the content type of the body, or empty if it is missing.
	Send(ctx context.Context, method, address, form string, body []byte) (Answer, error)
}

// An Answer is what a server answered.
type Answer struct {
	Status     int
	Content    []byte
	RetryAfter int // the seconds that the header retry-after needs, or −1
}

const (
	mostAnswer   = 1 << 16 // bytes of an answer to a batch
	mostCampaign = 1 << 22 // bytes of a campaign or of a list of campaigns
	mostRequest  = "message/ohttp-req"
)

// mostOf returns the most bytes that an answer may have; one that is encrypted is padded to a power of two.
func mostOf(method, form string) int {
	switch {
	case form == mostRequest:
		return 2*mostCampaign + 1<<10
	case method == http.MethodGet:
		return mostCampaign
	}
	return mostAnswer
}

// Direct connects directly, to https, and to this machine. It uses no proxy.
type Direct struct {
	Deadline time.Duration // limit of the complete exchange; 30 seconds if it is 0
}

// Send implements Transport.
func (d Direct) Send(ctx context.Context, method, address, form string, body []byte) (Answer, error) {
	if !isUsable(address) {
		return Answer{}, refusal("address", "use one such as https://telemetry.example, so that nobody reads along")
	}
	deadline := d.Deadline
	if deadline == 0 {
		deadline = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	var content io.Reader
	if form != "" {
		content = strings.NewReader(string(body))
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return Answer{}, refusal("address", "it is not one of a server")
	}
	request.Header.Set("User-Agent", "dither")
	if form != "" {
		request.Header.Set("Content-Type", form)
	}
	request.GetBody = nil // nothing is sent twice
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 1 << 16, Protocols: protocols}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return Answer{}, unreachable(err)
	}
	defer answer.Body.Close()
	most := mostOf(method, form)
	read, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	if err != nil || len(read) > most {
		return Answer{}, unreachable(err)
	}
	return Answer{answer.StatusCode, read, secondsOf(answer.Header.Get("Retry-After"))}, nil
}

// ErrUnreachable matches the errors of a network, and of answers that are cut off, too long or not HTTP.
var ErrUnreachable = errors.New("dither: nobody answers as a collector does")

func unreachable(err error) error {
	if err == nil {
		return fmt.Errorf("%w: the answer is too long", ErrUnreachable)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func secondsOf(text string) int {
	if seconds, err := strconv.Atoi(text); err == nil && len(text) < 10 && text[0] != '-' && text[0] != '+' {
		return seconds
	}
	return -1
}

// isUsable returns whether an address is one of https, or of this machine; without the name of a user, a
// query and a fragment.
func isUsable(address string) bool {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	if strings.ContainsFunc(address, unicode.IsSpace) || strings.ContainsAny(address, `?#\`) || host == "" || strings.Contains(host, "@") {
		return false
	}
	if strings.EqualFold(scheme, "https") {
		return true
	}
	name, port := host, "0"
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		name, port = host[:at], host[at+1:]
	}
	near := strings.EqualFold(name, "localhost") || name == "[::1]"
	if four := strings.Split(name, "."); len(four) == 4 && four[0] == "127" {
		near = !slices.ContainsFunc(four, func(part string) bool {
			number, err := strconv.Atoi(part)
			return err != nil || number > 255 || part != strconv.Itoa(number)
		})
	}
	return strings.EqualFold(scheme, "http") && near && isDigits(port)
}
