package proxy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// certificate writes a key and a certificate for 127.0.0.1 and returns their paths and a pool that trusts it.
func certificate(t *testing.T) (certPath, keyPath string, trust *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	trust = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trust.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", keyDER), trust
}

// clients speak every protocol that the gateway does; each needs a bed of its own.
func clients(t *testing.T) map[string]struct {
	client *http.Client
	change func(*setup)
	scheme string
} {
	cert, key, trust := certificate(t)
	over := func(p func(*http.Protocols), tc *tls.Config) *http.Client {
		transport := &http.Transport{Protocols: new(http.Protocols), TLSClientConfig: tc}
		p(transport.Protocols)
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	secure := func(s *setup) { s.config.TLSCertPath, s.config.TLSKeyPath = cert, key }
	return map[string]struct {
		client *http.Client
		change func(*setup)
		scheme string
	}{
		"HTTP/1.1":            {over(func(p *http.Protocols) { p.SetHTTP1(true) }, nil), func(*setup) {}, "http"},
		"HTTP/1.1 under TLS":  {over(func(p *http.Protocols) { p.SetHTTP1(true) }, &tls.Config{RootCAs: trust}), secure, "https"},
		"HTTP/2 under TLS":    {over(func(p *http.Protocols) { p.SetHTTP2(true) }, &tls.Config{RootCAs: trust}), secure, "https"},
		"HTTP/2 in the clear": {over(func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, nil), func(*setup) {}, "http"},
	}
}

func TestEveryProtocolStreamsAndNoticesAClientThatLeaves(t *testing.T) { // cases F4, B1
	for name, tc := range clients(t) {
		t.Run(name, func(t *testing.T) {
			ready := func(s *setup) { s.client = tc.client; s.scheme = tc.scheme }
			b := start(t, one(t, "vllm", strings.Repeat("on and on ", 100)), tc.change, ready)
			ask := func(ctx context.Context, members string) (*http.Response, error) {
				r, _ := http.NewRequestWithContext(ctx, "POST", b.url+"/v1/chat/completions", strings.NewReader(question(members)))
				return tc.client.Do(r)
			}
			resp, err := ask(t.Context(), `,"stream":true,"max_tokens":5`)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || len(add(chunks(t, string(body)), 0).finish) != 1 {
				t.Errorf("%v %s", err, body)
			}
			if want := strings.HasPrefix(name, "HTTP/2"); (resp.ProtoMajor == 2) != want {
				t.Errorf("spoke %s", resp.Proto)
			}
			for header, values := range resp.Header {
				if len(values) > 1 || header == "Content-Length" || header == "Transfer-Encoding" || resp.ProtoMajor == 2 && header == "Connection" {
					t.Errorf("%s: %q", header, values)
				}
			}
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if resp, err = ask(ctx, `,"stream":true`); err != nil {
				t.Fatal(err)
			}
			resp.Body.Read(make([]byte, 10))
			leave()
			resp.Body.Close()
			eventually(t, "aborted", func() bool { return len(b.workers[0].Aborts()) == 1 })
			b.atRest(t)
		})
	}
}

// slowly is a body that comes in pieces, and knows when it has been sent.
type slowly struct{ left atomic.Int32 }

func (s *slowly) Read(p []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	if s.left.Add(-1) < 0 {
		return 0, io.EOF
	}
	return len(p), nil
}

// A client may lose an answer that comes while it still sends.
func TestARefusalWaitsForTheBody(t *testing.T) {
	for name, c := range clients(t) {
		b := launch(t, c.change, func(s *setup) {
			s.client, s.scheme, s.config.APIKey, s.config.MaxPayloadSize = c.client, c.scheme, "key", 20
		})
		for _, tc := range []struct {
			path, key string
			status    int
		}{{"/v1/completions", "wrong", 401}, {"/v1/completions", "key", 413}, {"/nowhere", "key", 404}} {
			body := new(slowly)
			body.left.Store(40) // 1.3 MB
			r, _ := http.NewRequestWithContext(t.Context(), "POST", b.url+tc.path, body)
			r.Header.Set("Authorization", "Bearer "+tc.key)
			resp, err := c.client.Do(r)
			if err != nil {
				t.Fatal(name, err)
			}
			if sent := body.left.Load() <= 0; resp.StatusCode != tc.status || !sent {
				t.Errorf("%s: %s %d, the whole body was sent: %v", name, tc.path, resp.StatusCode, sent)
			}
			resp.Body.Close()
		}
	}
}
