package dither

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/http"
	"net/url"
	"slices"
)

// A Relay encrypts requests to the gateway of a collector (Oblivious HTTP, RFC 9458), so that a relay passes them on and
// cannot read them.
type Relay struct {
	address       string
	configuration configuration
	outer         Transport
}

// NewRelay returns a transport through a relay. The configuration is the gateway's: the SealingKey of a signed campaign, or
// a pinned one. It returns ErrKey if nothing can be encrypted to it.
func NewRelay(address, sealingKey string, outer Transport) (r *Relay, err error) {
	defer catch(&err)
	need(isUsable(address), "address")
	return &Relay{address, readConfiguration(sealingKey), outer}, nil
}

// Send implements Transport. Nothing is ever sent unencrypted. What the relay says by itself is an error: it acknowledges
// nothing.
func (r *Relay) Send(ctx context.Context, method, address, form string, body []byte) (answer Answer, err error) {
	plain, err := binaryRequest(method, address, form, body)
	if err != nil {
		return Answer{}, err
	}
	s, err := r.configuration.seal(plain)
	if err != nil {
		return Answer{}, err
	}
	outside, err := r.outer.Send(ctx, http.MethodPost, r.address, mostRequest, s.request)
	if err != nil {
		return Answer{}, err
	}
	if outside.Status != http.StatusOK {
		return Answer{}, fmt.Errorf("%w: the relay answers %d; is this the address of a relay for the collector?", ErrUnreachable, outside.Status)
	}
	inside, err := s.open(outside.Content)
	if err == nil {
		answer, err = binaryResponse(inside)
	}
	if err != nil || len(answer.Content) > mostOf(method, form) {
		return Answer{}, fmt.Errorf("%w: the relay did not bring an answer of the collector", ErrUnreachable)
	}
	return answer, nil
}

// A configuration is a key configuration (RFC 9458, 3.1) of X25519, HKDF-SHA256 and AES-128-GCM.
type configuration struct {
	id  byte
	key hpke.PublicKey
}

// readConfiguration refuses a key to which nothing can be encrypted, or one of other algorithms ("key").
func readConfiguration(text any) configuration {
	given, ok := text.(string)
	need(ok && len(given) >= 82 && isHex(given) && len(given)%2 == 0, "key")
	taken := unhex(given)
	algorithms := taken[37:]
	need(binary.BigEndian.Uint16(taken[1:]) == 0x20 && int(binary.BigEndian.Uint16(taken[35:])) == len(algorithms) && len(algorithms)%4 == 0, "key")
	known := false
	for one := range slices.Chunk(algorithms, 4) {
		known = known || string(one) == "\x00\x01\x00\x01"
	}
	need(known, "key")
	key, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(taken[3:35])
	need(err == nil, "key")
	// Sealing fails if the result of Diffie-Hellman is zero, as it is for a key of small order.
	_, _, err = hpke.NewSender(key, hpke.HKDFSHA256(), hpke.AES128GCM(), nil)
	needs(err == nil, "key", "nothing can be encrypted to it")
	return configuration{taken[0], key}
}

// sealed is an encrypted request, and what opens its answer.
type sealed struct {
	request, encapsulated, secret []byte
}

// seal returns an encrypted request (RFC 9458, 4.3), under a new ephemeral key.
func (c configuration) seal(plain []byte) (sealed, error) {
	header := []byte{c.id, 0, 0x20, 0, 1, 0, 1}
	info := append([]byte("message/bhttp request\x00"), header...)
	encapsulated, sender, err := hpke.NewSender(c.key, hpke.HKDFSHA256(), hpke.AES128GCM(), info)
	if err != nil {
		return sealed{}, refusal("key", "nothing can be encrypted to it")
	}
	text, err := sender.Seal(nil, plain)
	if err != nil {
		return sealed{}, err
	}
	secret, err := sender.Export("message/bhttp response", 16)
	return sealed{slices.Concat(header, encapsulated, text), encapsulated, secret}, err
}

// open decrypts an answer (RFC 9458, 4.4).
func (s sealed) open(answer []byte) ([]byte, error) {
	if len(answer) < 32 {
		return nil, refusal("text")
	}
	nonce, text := answer[:16], answer[16:]
	secret, err := hkdf.Extract(sha256.New, s.secret, slices.Concat(s.encapsulated, nonce))
	key, wrong := hkdf.Expand(sha256.New, secret, "key", 16)
	once, other := hkdf.Expand(sha256.New, secret, "nonce", 12)
	if err = errors.Join(err, wrong, other); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, once, text, nil)
	if err != nil {
		return nil, refusal("text")
	}
	return plain, nil
}

// counted appends a text after its length (RFC 9000, 16).
func counted[T string | []byte](out []byte, data T) []byte {
	switch size := len(data); {
	case size < 1<<6:
		out = append(out, byte(size))
	case size < 1<<14:
		out = binary.BigEndian.AppendUint16(out, 1<<14|uint16(size))
	default:
		out = binary.BigEndian.AppendUint32(out, 1<<31|uint32(size))
	}
	return append(out, data...)
}

// binaryRequest returns a request in binary HTTP (RFC 9292), padded to a power of two: its length shows neither the question
// nor, but for the magnitude, the number of reports.
func binaryRequest(method, address, form string, body []byte) ([]byte, error) {
	to, err := url.Parse(address)
	if err != nil {
		return nil, refusal("address")
	}
	path := to.EscapedPath()
	if path == "" {
		path = "/"
	}
	if to.RawQuery != "" {
		path += "?" + to.RawQuery
	}
	var fields []byte
	if form != "" {
		fields = counted(counted(nil, "content-type"), form)
	}
	plain := counted(counted(counted(counted([]byte{0}, method), "https"), to.Host), path)
	plain = counted(counted(plain, fields), body)
	return append(plain, make([]byte, max(1<<10, 1<<bits.Len(uint(len(plain)-1)))-len(plain))...), nil
}

// binaryResponse returns a response of known length in binary HTTP. Its fields are not read.
func binaryResponse(data []byte) (answer Answer, err error) {
	defer catch(&err)
	r := &binaryReader{data}
	need(r.number() == 1, "text")
	status := r.number()
	for ; status >= 100 && status < 200; status = r.number() {
		r.section()
	}
	need(status >= 200 && status < 600, "text")
	r.section()
	content := slices.Clone(r.section())
	r.section()
	for _, c := range r.data {
		need(c == 0, "text")
	}
	return Answer{int(status), content, -1}, nil
}

type binaryReader struct{ data []byte }

func (r *binaryReader) number() (read uint64) {
	need(len(r.data) > 0, "text")
	size := 1 << (r.data[0] >> 6)
	need(len(r.data) >= size, "text")
	for i, c := range r.data[:size] {
		if i == 0 {
			c &= 63
		}
		read = read<<8 | uint64(c)
	}
	r.data = r.data[size:]
	return read
}

// section returns a part after its length; those at the end may be left out.
func (r *binaryReader) section() []byte {
	if len(r.data) == 0 {
		return nil
	}
	size := r.number()
	need(size <= uint64(len(r.data)), "text")
	part := r.data[:size]
	r.data = r.data[size:]
	return part
}
