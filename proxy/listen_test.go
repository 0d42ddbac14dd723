package proxy

import (
	"net"
	"net/http"
	"testing"
)

func TestThePortForHealthChecksKnowsNothingElse(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr)
	free.Close()
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.config.HealthPort, s.config.APIKey = port.Port, "a-key" })
	for path, want := range map[string]int{"/health": 200, "/liveness": 200, "/readiness": 200, "/v1/models": 404, "/workers": 404, "/metrics": 404} {
		resp, err := http.Get("http://" + port.String() + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	b.atRest(t)
}
