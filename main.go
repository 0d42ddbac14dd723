// Command leeway is an OpenAI-compatible gateway for self-hosted language models.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"leeway/openai/tokenizer"
	"leeway/proxy"
	"leeway/proxy/settings"
	"leeway/routing"
	"leeway/workers"
	"leeway/workers/sim"
)

//go:embed config.toml
var annotated string // every key with its meaning: the text of --help

// everything is all that can be set: a table a room.
type everything struct {
	Proxy   proxy.Config      `toml:"proxy"`
	OpenAI  proxy.ModelConfig `toml:"openai"`
	Routing routing.Config    `toml:"routing"`
	Workers workers.Config    `toml:"workers"`
	File    string            `toml:"-" flag:"config" help:"read settings from this file; flags stand above it"`
	Check   bool              `toml:"-" flag:"check" help:"validate, print the settings in force and exit"`
	Demo    bool              `toml:"-" flag:"demo" help:"serve four simulated workers"`
}

func load(args []string) (everything, []settings.Notice, error) {
	defaults := everything{Proxy: proxy.DefaultConfig(), OpenAI: proxy.DefaultModelConfig(), Routing: routing.DefaultConfig(), Workers: workers.DefaultConfig()}
	return settings.Load(args, defaults, func(s everything) string { return s.File })
}

func main() {
	name, args := settings.Command(os.Args[1:], "serve")
	var err error
	switch name {
	case "serve", "launch", "start":
		err = serve(proxy.UntilSignal(signal.Notify), args)
	case "sim":
		err = with(args, sim.Options{}, func(o sim.Options) error { return sim.Run(proxy.UntilSignal(signal.Notify), o, os.Stdout) })
	case "tokenize":
		err = with(args, tokenizer.Options{}, func(o tokenizer.Options) error { return tokenizer.EncodeLines(os.Stdin, os.Stdout, o) })
	case "detokenize":
		err = with(args, tokenizer.Options{}, func(o tokenizer.Options) error { return tokenizer.DecodeLines(os.Stdin, os.Stdout, o) })
	case "render":
		err = with(args, proxy.RenderOptions{}, func(o proxy.RenderOptions) error { return proxy.Render(os.Stdin, os.Stdout, o) })
	case "replay":
		err = with(args, proxy.DefaultReplay(), func(o proxy.ReplayOptions) error { return proxy.Replay(os.Stdin, os.Stdout, os.Stderr, o) })
	case "version":
		fmt.Println("leeway", settings.Version())
	default:
		err = settings.UnknownCommand(name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "leeway:", err)
		os.Exit(1)
	}
}

// with runs a command whose options all come from flags.
func with[T any](args []string, options T, run func(T) error) error {
	err := settings.Parse(args, &options)
	if errors.Is(err, settings.ErrHelp) {
		settings.Help(os.Stdout, &options, annotated)
		return nil
	}
	if err != nil {
		return err
	}
	return run(options)
}

func serve(ctx context.Context, args []string) error {
	s, notices, err := load(args)
	switch {
	case errors.Is(err, settings.ErrHelp):
		fmt.Print(settings.Commands, "serve takes:\n")
		settings.Help(os.Stdout, &s, annotated)
		return nil
	case err != nil:
		return err
	}
	if s.Demo && !s.Check {
		fleet, err := sim.Demo()
		if err != nil {
			return err
		}
		defer fleet.Close()
		s.Workers.URLs, s.Routing.CacheMode = append(s.Workers.URLs, fleet.URLs()...), "enforce"
		s.Proxy.ShutdownAccept = 0 // no balancer looks at a demo
	}
	return gateway(ctx, s, notices, args)
}

// gateway builds the house and keeps it open until ctx ends and it has drained. A check ends when it is built.
func gateway(ctx context.Context, s everything, notices []settings.Notice, args []string) error {
	log := s.Proxy.Logger(os.Stderr)
	for _, n := range notices {
		log.Warn().Str("flag", n.Flag).Str("why", n.Why).Msg("a flag has no effect")
	}
	way := s.Routing
	way.PollSecs, way.Unmonitored = s.Workers.LoadInterval, s.Workers.DisableLoads
	router, err := routing.New(way)
	if err != nil {
		return err
	}
	for key, why := range router.Unused() {
		log.Warn().Str("key", key).Str("why", why).Msg("a setting has no effect")
	}
	pool, err := workers.New(s.Workers, router, log)
	if err != nil {
		return err
	}
	hall, err := proxy.New(s.Proxy, s.OpenAI, router, pool, log)
	if err != nil {
		return err
	}
	if s.Check {
		return settings.Print(os.Stdout, s)
	}
	ports, err := s.Proxy.Listen()
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // the pool outlives the drain
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(running) }()
	if s.Demo {
		go hall.Invite(ctx, os.Stdout, ports.Public.Addr())
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			fresh, _, err := load(args)
			hall.Reload(fresh.Proxy, fresh.Routing, err)
		}
	}()
	err = hall.Serve(ctx, ports)
	stop()
	return errors.Join(err, <-ended)
}
