package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const tokensPerStream = 200

// perToken keeps n streams open for span and returns the gateway's CPU microseconds for each content chunk that arrived.
// The streams start within one second, so that requests begin evenly over time as they do in service.
func perToken(ctx context.Context, g *gateway, n int, span time.Duration) (float64, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var chunks atomic.Int64
	var streams sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		streams.Go(func() {
			sleep(ctx, time.Second*time.Duration(i)/time.Duration(n))
			for ctx.Err() == nil {
				if err := stream(ctx, g, &chunks); err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
			}
		})
	}
	sleep(ctx, 2*time.Second)
	cpu, err := g.cpu()
	if err != nil {
		return 0, err
	}
	before := chunks.Load()
	sleep(ctx, span)
	after, err := g.cpu()
	got := chunks.Load() - before
	stop()
	streams.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
	}
	if want := int64(float64(n) * 50 * span.Seconds()); got < want*8/10 {
		return 0, fmt.Errorf("only %d of about %d chunks came: the machine is too slow for this measure", got, want)
	}
	return float64((after - cpu).Microseconds()) / float64(got), err
}

func stream(ctx context.Context, g *gateway, chunks *atomic.Int64) error {
	response, err := chat(ctx, g, fmt.Sprintf(`"stream":true,"max_tokens":%d`, tokensPerStream), "Say something.")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	buffer := make([]byte, 16<<10)
	for {
		n, err := response.Body.Read(buffer)
		// A chunk that carries text says "content": once; so does the role frame, one in 200.
		chunks.Add(int64(bytes.Count(buffer[:n], []byte(`"content":`))))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// perRequest sends requests of a thousand words, eight at a time, and returns CPU microseconds a request.
func perRequest(ctx context.Context, g *gateway, requests int) (float64, error) {
	cpu, err := g.cpu()
	if err != nil {
		return 0, err
	}
	var left atomic.Int64
	left.Store(int64(requests))
	var senders sync.WaitGroup
	failed := make(chan error, 8)
	for range 8 {
		senders.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				response, err := chat(ctx, g, `"max_tokens":1`, words(1000))
				if err != nil {
					failed <- err
					return
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	senders.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
	}
	after, err := g.cpu()
	return float64((after - cpu).Microseconds()) / float64(requests), err
}

func chat(ctx context.Context, g *gateway, fields, content string) (*http.Response, error) {
	body := fmt.Sprintf(`{"model":"demo",%s,"messages":[{"role":"user","content":%q}]}`, fields, content)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("content-type", "application/json")
	response, err := g.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return nil, fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	return response, nil
}

// words is a text of n words in an order of its own, so that no cache of whole prompts helps.
func words(n int) string {
	vocabulary := strings.Fields("a gateway sends each request to one worker and a worker holds the blocks of a prefix " +
		"it has seen before so the next prompt that begins alike needs less prefill while its queue stays short")
	var text strings.Builder
	for range n {
		text.WriteString(vocabulary[rand.IntN(len(vocabulary))])
		text.WriteByte(' ')
	}
	return text.String()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
