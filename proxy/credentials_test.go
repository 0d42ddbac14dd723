package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"testing"

	"leeway/routing"
)

func TestAKeyIsRotatedWhileRequestsRun(t *testing.T) { // case F14
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.config.APIKey = "old" })
	reload := func(key string, err error) {
		c := b.config
		c.APIKey = key
		b.Reload(c, routing.DefaultConfig(), err)
	}
	status := func(key string) int {
		resp := b.post(t, t.Context(), "/v1/chat/completions", question(``), "Authorization", "Bearer "+key)
		resp.Body.Close()
		return resp.StatusCode
	}
	generation, failures := b.count(t, "leeway_config_generation"), b.count(t, "leeway_config_reload_failures_total")
	for _, step := range []struct {
		name     string
		reload   func()
		old, new int
	}{
		{"before", func() {}, 200, 401},
		{"after the change", func() { reload("new", nil) }, 401, 200},
		{"after a key was lost", func() { reload("", nil) }, 401, 200},
		{"after a broken file", func() { reload("old", errors.New("config.toml:3: no such key")) }, 401, 200},
		{"after the way back", func() { reload("old", nil) }, 200, 401},
	} {
		step.reload()
		if was, is := status("old"), status("new"); was != step.old || is != step.new {
			t.Errorf("%s: the old key gives %d, the new one %d", step.name, was, is)
		}
	}
	generation, failures = b.count(t, "leeway_config_generation")-generation, b.count(t, "leeway_config_reload_failures_total")-failures
	if generation != 2 || failures != 2 { // case F12
		t.Errorf("%v generations and %v failures more, want 2 and 2", generation, failures)
	}
}

func TestACertificateIsRotatedWhileRequestsRun(t *testing.T) {
	cert, key, trust := certificate(t)
	b := start(t, one(t, "vllm", greeting), func(s *setup) {
		s.config.TLSCertPath, s.config.TLSKeyPath, s.scheme = cert, key, "https"
		s.client = trusting(trust)
	})
	c := b.config
	next, nextKey, nextTrust := certificate(t)
	c.TLSCertPath, c.TLSKeyPath = next, nextKey
	b.Reload(c, routing.DefaultConfig(), nil)
	for name, client := range map[string]*http.Client{"the old one": trusting(trust), "the new one": trusting(nextTrust)} {
		resp, err := client.Get(b.url + "/liveness")
		if resp != nil {
			resp.Body.Close()
		}
		if (err == nil) != (name == "the new one") {
			t.Errorf("who trusts %s: %v", name, err)
		}
	}
	c.TLSCertPath, c.TLSKeyPath = "", ""
	b.Reload(c, routing.DefaultConfig(), nil)
	if resp, err := trusting(nextTrust).Get(b.url + "/liveness"); err != nil {
		t.Errorf("TLS was turned off: %v", err)
	} else {
		resp.Body.Close()
	}
}

func trusting(pool *x509.CertPool) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
}

func TestAWrongCertificateStopsTheStart(t *testing.T) {
	c := DefaultConfig()
	c.TLSCertPath, c.TLSKeyPath = "/nowhere/cert.pem", "/nowhere/key.pem"
	if err := new(credentials).load(c); err == nil || !strings.Contains(err.Error(), "/nowhere/cert.pem") {
		t.Errorf("got %v", err)
	}
}
