package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
)

// MaxMessage bounds a message in either direction, as the engines' own servers do.
const MaxMessage = 256 << 20

const (
	connectTimeout = 10 * time.Second
	// The servers send a GOAWAY to a client that pings more often than every 10 s, or while it has no call open.
	pingInterval = 30 * time.Second
	pingTimeout  = 10 * time.Second
	streamWindow = 256 << 10
	connWindow   = 16 << 20
	bufferSize   = 64 << 10
)

// Dial prepares a connection to a worker at grpc://host:port or grpcs://host:port. It sends nothing: the connection
// is made with the first call, and made again whenever it is lost.
func Dial(address string) (*grpc.ClientConn, error) {
	target, creds, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	return grpc.NewClient(target,
		grpc.WithTransportCredentials(creds),
		grpc.WithUserAgent("leeway"),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(), // the gateway retries elsewhere, and knows what the client has seen
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingInterval, Timeout: pingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			MinConnectTimeout: connectTimeout,
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
		}),
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithReadBufferSize(bufferSize),
		grpc.WithWriteBufferSize(bufferSize),
	)
}

// CheckAddress says what is wrong with a worker's address, if anything is.
func CheckAddress(address string) error {
	_, _, err := parseAddress(address)
	return err
}

// parseAddress gives the name to resolve and how to secure the connection. A name with several addresses is one
// worker: the first that answers is taken.
func parseAddress(address string) (target string, creds credentials.TransportCredentials, err error) {
	if !strings.Contains(address, "://") {
		return "", nil, fmt.Errorf("worker address %q: write grpc://host:port or grpcs://host:port", address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", nil, fmt.Errorf("worker address %q: %w", address, err)
	}
	switch u.Scheme {
	case "grpc":
		creds = insecure.NewCredentials()
	case "grpcs":
		creds = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	default:
		return "", nil, fmt.Errorf("worker address %q: write grpc://host:port or grpcs://host:port", address)
	}
	if _, port, err := net.SplitHostPort(u.Host); err != nil || port == "" || u.Hostname() == "" {
		return "", nil, fmt.Errorf("worker address %q: host and port are both needed, as in grpc://10.0.0.1:50051", address)
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
		return "", nil, fmt.Errorf("worker address %q: %s is no port; use 1 to 65535", address, u.Port())
	}
	if u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", nil, fmt.Errorf("worker address %q: nothing may stand besides host and port", address)
	}
	return "dns:///" + u.Host, creds, nil
}

// WithMetadata sends pairs along with the next call made with the context.
func WithMetadata(ctx context.Context, pairs map[string]string) context.Context {
	if len(pairs) == 0 {
		return ctx
	}
	return metadata.NewOutgoingContext(ctx, metadata.New(pairs))
}
