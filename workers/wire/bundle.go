package wire

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"

	"leeway/workers/enginepb/commonpb"
)

// A bundle's limits: a worker is trusted with prompts, not with the gateway's memory or disk.
const (
	BundleTimeout = 120 * time.Second
	maxBundle     = 200 << 20
	maxUnpacked   = 500 << 20
	maxEntries    = 50
)

// bundle reads the zip archive of a worker's tokenizer, and returns it only when it is complete, has the digest that
// the worker gave, unpacks within the limits and names no path outside itself. open is the dialect's GetTokenizer.
func bundle(ctx context.Context, open func(context.Context) (grpc.ServerStreamingClient[commonpb.GetTokenizerChunk], error)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, BundleTimeout)
	defer cancel()
	stream, err := open(ctx)
	if err != nil {
		return nil, Error(err)
	}
	archive, digest, err := download(stream)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(archive); !strings.EqualFold(digest, hex.EncodeToString(sum[:])) {
		return nil, fmt.Errorf("tokenizer bundle: the digest %q is not that of the %d bytes that came", digest, len(archive))
	}
	if err := checkArchive(archive, maxUnpacked); err != nil {
		return nil, fmt.Errorf("tokenizer bundle: %w", err)
	}
	return archive, nil
}

// download joins the chunks. Only the last may carry a digest, and must.
func download(stream grpc.ServerStreamingClient[commonpb.GetTokenizerChunk]) (archive []byte, digest string, err error) {
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "", Error(err)
		}
		if digest != "" {
			return nil, "", errors.New("tokenizer bundle: a chunk follows the one with the digest")
		}
		if len(archive)+len(chunk.GetData()) > maxBundle {
			return nil, "", fmt.Errorf("tokenizer bundle: larger than %d MiB", maxBundle>>20)
		}
		archive, digest = append(archive, chunk.GetData()...), chunk.GetSha256()
	}
	if digest == "" {
		return nil, "", errors.New("tokenizer bundle: it ended without a digest, so it may be cut short")
	}
	return archive, digest, nil
}

// checkArchive unpacks everything into nothing: a size in a header is a claim, like any other.
func checkArchive(archive []byte, limit int64) error {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	if len(z.File) > maxEntries {
		return fmt.Errorf("%d entries, at most %d are allowed", len(z.File), maxEntries)
	}
	left := limit
	for _, file := range z.File {
		if !filepath.IsLocal(file.Name) || strings.ContainsAny(file.Name, `\:`) {
			return fmt.Errorf("the entry %q points outside the archive", file.Name)
		}
		n, err := unpackedSize(file, left)
		if err != nil {
			return fmt.Errorf("entry %q: %w", file.Name, err)
		}
		if left -= n; left < 0 {
			return fmt.Errorf("it unpacks to more than %d MiB", limit>>20)
		}
	}
	return nil
}

// unpackedSize reads an entry to its end, or to just beyond the limit; its checksum is verified on the way.
func unpackedSize(file *zip.File, limit int64) (int64, error) {
	r, err := file.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return io.Copy(io.Discard, io.LimitReader(r, limit+1))
}
