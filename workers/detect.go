package workers

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	"leeway/workers/engine"
	"leeway/workers/sglang"
	"leeway/workers/tokenspeed"
	"leeway/workers/vllm"
)

func clientOf(dialect engine.Dialect, conn *grpc.ClientConn) engine.Client {
	switch dialect {
	case engine.SGLang:
		return sglang.New(conn)
	case engine.VLLM:
		return vllm.New(conn)
	default:
		return tokenspeed.New(conn)
	}
}

// detect finds out which dialect is spoken on a connection: the hint if it is right, else the first whose health
// check exists. A worker that answers without being well has answered; one that does not answer has said nothing.
func detect(ctx context.Context, conn *grpc.ClientConn, hint engine.Dialect) (engine.Dialect, engine.Client, error) {
	order := []engine.Dialect{hint, engine.SGLang, engine.VLLM, engine.TokenSpeed}
	for i, dialect := range order {
		if dialect == "" || i > 0 && dialect == hint {
			continue
		}
		client := clientOf(dialect, conn)
		err := client.Health(ctx)
		if errors.Is(err, engine.ErrUnsupported) {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("probing for %s: %w", dialect, err)
		}
		return dialect, client, nil
	}
	return "", nil, errors.New("the server at this address speaks none of SGLang's, vLLM's and TokenSpeed's gRPC dialects")
}
