package wire

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
	pb "leeway/workers/enginepb/sglangpb"
)

// server sends the chunks it was given.
type server struct {
	pb.UnimplementedSglangSchedulerServer
	chunks []*commonpb.GetTokenizerChunk
	err    error
}

func (s *server) GetTokenizer(_ *commonpb.GetTokenizerRequest, stream grpc.ServerStreamingServer[commonpb.GetTokenizerChunk]) error {
	for _, chunk := range s.chunks {
		if err := stream.Send(chunk); err != nil {
			return err
		}
	}
	return s.err
}

// serve answers calls on a loopback port and returns a client of it.
func serve(t *testing.T, impl pb.SglangSchedulerServer) pb.SglangSchedulerClient {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	pb.RegisterSglangSchedulerServer(s, impl)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	conn, err := Dial("grpc://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); s.Stop(); <-ended })
	return pb.NewSglangSchedulerClient(conn)
}

func fetch(t *testing.T, impl *server) ([]byte, error) {
	client := serve(t, impl)
	return bundle(t.Context(), func(ctx context.Context) (grpc.ServerStreamingClient[commonpb.GetTokenizerChunk], error) {
		return client.GetTokenizer(ctx, &commonpb.GetTokenizerRequest{})
	})
}

func archive(t *testing.T, names ...string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	z := zip.NewWriter(&buffer)
	for _, name := range names {
		file, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// cut sends an archive in two chunks, the digest with the last.
func cut(data []byte) []*commonpb.GetTokenizerChunk {
	sum := sha256.Sum256(data)
	half := len(data) / 2
	return []*commonpb.GetTokenizerChunk{
		{Data: data[:half]}, {Data: data[half:], Sha256: strings.ToUpper(hex.EncodeToString(sum[:]))},
	}
}

func TestABundleComesWholeOrNotAtAll(t *testing.T) {
	good := archive(t, "tokenizer.json", "config.json")
	if got, err := fetch(t, &server{chunks: cut(good)}); err != nil || !bytes.Equal(got, good) {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	var many []string
	for i := range maxEntries + 1 {
		many = append(many, fmt.Sprint(i))
	}
	early := cut(good)
	early[0].Sha256 = early[1].Sha256
	for name, chunks := range map[string][]*commonpb.GetTokenizerChunk{
		"no chunks":            nil,
		"cut short":            cut(good)[:1],
		"another digest":       {{Data: good, Sha256: strings.Repeat("0", 64)}},
		"digest on the first":  early,
		"not a zip":            cut([]byte("certainly not a zip archive")),
		"parent path":          cut(archive(t, "../tokenizer.json")),
		"absolute path":        cut(archive(t, "/etc/passwd")),
		"drive":                cut(archive(t, `c:\tokenizer.json`)),
		"too many entries":     cut(archive(t, many...)),
		"entry with bad bytes": cut(damaged(good)),
	} {
		if _, err := fetch(t, &server{chunks: chunks}); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}

// damaged turns a bit of the first entry's content.
func damaged(good []byte) []byte {
	bad := bytes.Clone(good)
	bad[30+len("tokenizer.json")+1] ^= 0x10
	return bad
}

func TestABombIsNotUnpacked(t *testing.T) {
	var buffer bytes.Buffer
	z := zip.NewWriter(&buffer)
	file, err := z.Create("tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range 5 {
		if _, err := file.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := checkArchive(buffer.Bytes(), 4<<20); err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("got %v", err)
	}
}

func TestStatusesBecomeErrorsThatACallerCanAct(t *testing.T) {
	for _, c := range []struct {
		from      error
		code      engine.Code
		cause     error
		transport bool
	}{
		{status.Error(codes.Unimplemented, "no"), engine.Unimplemented, engine.ErrUnsupported, false},
		{status.Error(codes.OutOfRange, "no"), engine.OutOfRange, engine.ErrOutOfRange, false},
		{status.Error(codes.DataLoss, "no"), engine.DataLoss, engine.ErrDataLoss, false},
		{status.Error(codes.Unavailable, "engine is loading"), engine.Unavailable, nil, false},
		{status.Error(codes.Unavailable, "error reading from server: EOF"), engine.Unavailable, nil, true},
		{status.Error(codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR"), engine.Internal, nil, true},
		{context.Canceled, engine.Canceled, context.Canceled, false},
		{context.DeadlineExceeded, engine.DeadlineExceeded, context.DeadlineExceeded, false},
		{errors.New("something else"), engine.Unknown, nil, false},
	} {
		var e *engine.Error
		err := Error(c.from)
		if !errors.As(err, &e) || e.Code != c.code || e.Transport != c.transport || (c.cause != nil && !errors.Is(err, c.cause)) {
			t.Errorf("%v became %#v", c.from, err)
		}
	}
	if Error(nil) != nil {
		t.Error("no error became one")
	}
}

func TestARefusedDialIsATransportFailure(t *testing.T) {
	conn, err := Dial("grpc://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = pb.NewSglangSchedulerClient(conn).HealthCheck(t.Context(), &pb.HealthCheckRequest{})
	var e *engine.Error
	if err := Error(err); !errors.As(err, &e) || !e.Transport || e.Code != engine.Unavailable {
		t.Errorf("got %#v", err)
	}
}
