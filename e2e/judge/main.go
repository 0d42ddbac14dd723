// Command judge holds leeway's least-load score against the published gateways: the same scripted loads, the same
// prompts and the same requests held open, and every choice must be the same worker.
//
//	go run ./e2e/judge --smg PATH_TO_SMG --score v1|v2 [--choices 240] [--workers 5] [--seed 1]
//
// smg==1.9.0 judges the first form of the score, smg==1.13.0 the second. Each gateway has a fleet of its own, with equal
// loads, and polls it every second; requests are sent between two polls. A round in which a poll came in between is
// played again.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"
)

type options struct {
	smg, leeway, score, tokenizer string
	choices, workers              int
	seed                          uint64
}

const perRound = 6

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.smg, "smg", "", "the published gateway's program")
	flag.StringVar(&o.leeway, "leeway", "./leeway", "the built leeway")
	flag.StringVar(&o.score, "score", "v1", "v1 (judge: smg 1.9.0) or v2 (judge: smg 1.13.0)")
	flag.StringVar(&o.tokenizer, "tokenizer", "workers/sim/demo", "tokenizer folder, with config.json")
	flag.IntVar(&o.choices, "choices", 240, "how many choices to compare")
	flag.IntVar(&o.workers, "workers", 5, "workers in each fleet")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of loads and prompts")
	flag.Parse()
	if err := judge(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func judge(ctx context.Context, o options) error {
	sides := make([]*side, 2)
	for i, kind := range []string{"leeway", "smg"} {
		s, err := startSide(ctx, o, kind)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		defer s.stop()
		sides[i] = s
	}
	random := rand.New(rand.NewPCG(o.seed, 7))
	compared, differing, replayed := 0, 0, 0
	for compared < o.choices && ctx.Err() == nil {
		same, err := playRound(ctx, sides, random, o.workers)
		if errors.Is(err, errDisturbed) && replayed < o.choices {
			replayed++
			continue
		}
		if err != nil {
			return err
		}
		compared += perRound
		differing += perRound - same
	}
	fmt.Printf("score %s: %d of %d choices are the judge's (%d rounds replayed)\n", o.score, compared-differing, compared, replayed)
	if differing > 0 {
		return fmt.Errorf("%d choices differ", differing)
	}
	return ctx.Err()
}

// playRound sets new loads on both fleets, sends the same prompts to both gateways and counts equal choices. Then some of
// the requests end, the same ones on both sides; the rest stay in flight for rounds to come.
func playRound(ctx context.Context, sides []*side, random *rand.Rand, workers int) (same int, err error) {
	loads := make([]load, workers)
	for i := range loads {
		loads[i] = randomLoad(random)
	}
	prompts := make([]string, perRound)
	for i := range prompts {
		prompts[i] = strings.Repeat("word ", 10+random.IntN(3000))
	}
	ends := random.Uint64()
	chosen, inFlight := make([][]int, len(sides)), sides[0].inFlight()
	for i, s := range sides {
		if chosen[i], err = s.play(ctx, loads, prompts); err != nil {
			break
		}
	}
	for _, s := range sides {
		s.release(ends, errors.Is(err, errDisturbed))
	}
	if err != nil {
		return 0, err
	}
	for n := range prompts {
		if chosen[0][n] == chosen[1][n] {
			same++
		} else {
			fmt.Printf("choice %d of this round: leeway %d, judge %d, in flight before %v, loads %+v\n", n, chosen[0][n], chosen[1][n], inFlight, loads)
		}
	}
	return same, nil
}

// randomLoad stays below the thresholds at which the newer gateway takes a worker out of selection.
func randomLoad(random *rand.Rand) load {
	l := load{running: random.IntN(20), usage: random.Float64() * .75, throughput: 200 + random.Float64()*3000}
	switch random.IntN(3) {
	case 0:
		l.waiting = random.IntN(7)
	case 1:
		l.waiting, l.uncached = 1+random.IntN(6), random.IntN(8000)
	}
	if random.IntN(4) == 0 {
		l.throughput = 0
	}
	return l
}

func wait(ctx context.Context, limit time.Duration, met func() bool) bool {
	for end := time.Now().Add(limit); ctx.Err() == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if met() {
			return true
		}
	}
	return false
}
