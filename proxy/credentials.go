package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
)

// credentials are what the gateway asks for and what it shows. They may be replaced while requests run.
type credentials struct {
	key  atomic.Pointer[[sha256.Size]byte] // hash of the key that lets clients in; nil: all may come in
	cert atomic.Pointer[tls.Certificate]   // nil: there is no TLS
}

// load reads what a configuration names, and replaces all of it or nothing.
func (s *credentials) load(c Config) error {
	var cert *tls.Certificate
	if c.TLSCertPath != "" {
		pair, err := tls.LoadX509KeyPair(c.TLSCertPath, c.TLSKeyPath)
		if err != nil {
			return fmt.Errorf("tls_cert_path %q, tls_key_path %q: %w", c.TLSCertPath, c.TLSKeyPath, err)
		}
		cert = &pair
	}
	var key *[sha256.Size]byte
	if c.APIKey != "" {
		hash := sha256.Sum256([]byte(c.APIKey))
		key = &hash
	}
	s.key.Store(key)
	s.cert.Store(cert)
	return nil
}

// reload is load, but never opens what was closed: a file that has lost its key is more likely broken than meant.
func (s *credentials) reload(c Config) error {
	switch {
	case c.APIKey == "" && s.key.Load() != nil:
		return errors.New("api_key: the key can be changed while the gateway runs, but not taken away")
	case (c.TLSCertPath == "") != (s.cert.Load() == nil):
		return errors.New("tls_cert_path: the certificate can be changed while the gateway runs, but TLS not turned on or off")
	}
	return s.load(c)
}

// admits says whether a client's key is the one, in the same time wherever the keys part.
func (s *credentials) admits(key string) bool {
	want, got := s.key.Load(), sha256.Sum256([]byte(key))
	return want == nil || subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// open says that no key is asked for.
func (s *credentials) open() bool { return s.key.Load() == nil }

func (s *credentials) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.cert.Load(), nil
}
