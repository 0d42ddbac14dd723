package wire

import (
	"strings"
	"testing"
)

func TestAnAddressSaysHowItIsWritten(t *testing.T) {
	for address, want := range map[string]string{
		"grpc://10.0.0.1:50051": "", "grpcs://[::1]:443": "",
		"10.0.0.1:50051":     "write grpc://host:port",
		"worker-1:50051":     "write grpc://host:port",
		"http://worker-1:80": "write grpc://host:port",
		"grpc://worker-1":    "host and port are both needed",
		"grpc://worker-1:0":  "0 is no port",
	} {
		err := CheckAddress(address)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}
