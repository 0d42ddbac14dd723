package proxy

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/go-chi/chi/v5"
	"github.com/rs/zerolog"

	"leeway/routing"
	"leeway/workers"
)

// Gateway answers HTTP requests out of a pool of workers.
type Gateway struct {
	config    Config
	models    *library
	router    *routing.Router
	pool      *workers.Pool
	admission *admission
	log       zerolog.Logger
	journal   *decisionLog
	draining  atomic.Bool
	lastLoads loadCache
}

// New returns a gateway that listens nowhere yet. It reads the tokenizer and the chat template that the configuration
// names, so that a wrong path is known at the start.
func New(c Config, m ModelConfig, router *routing.Router, pool *workers.Pool, logger zerolog.Logger) (*Gateway, error) {
	if err := errors.Join(c.Validate(), m.Validate()); err != nil {
		return nil, err
	}
	models, err := newLibrary(m, pool, logger)
	if err != nil {
		return nil, err
	}
	journal, err := newDecisionLog(c, router, logger)
	if err != nil {
		return nil, err
	}
	return &Gateway{
		config: c, models: models, router: router, pool: pool, log: logger, journal: journal,
		admission: &admission{limit: c.concurrency(), queue: c.QueueSize, timeout: secs(c.QueueTimeout)},
	}, nil
}

// Listen opens the public port and the one for metrics.
func (c Config) Listen() (public, measures net.Listener, err error) {
	if public, err = listen("port", c.Host, c.Port); err != nil {
		return nil, nil, err
	}
	if measures, err = listen("prometheus_port", c.PrometheusHost, c.PrometheusPort); err != nil {
		public.Close()
		return nil, nil, err
	}
	return public, measures, nil
}

func listen(key, host string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen: %w; choose another port or end what holds it", key, err)
	}
	return l, nil
}

// Serve answers on both listeners until ctx ends, and then drains: readiness says so at once, new requests are still
// taken for a moment, and those that run are let finish within the grace period. It returns when everything that it
// started has ended; a drain that ran out of time is no error.
func (g *Gateway) Serve(ctx context.Context, public, measures net.Listener) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	server := g.server(requests)
	side := &http.Server{Handler: g.measuresHandler(), ReadHeaderTimeout: 10 * time.Second}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	g.log.Info().Stringer("address", public.Addr()).Stringer("metrics", measures.Addr()).Msg("listening")
	all.Go(func() { g.models.run(background) })
	all.Go(func() { g.journal.run(background) })
	failed := make(chan error, 2)
	all.Go(func() { failed <- g.listenOn(server, public) })
	all.Go(func() { failed <- side.Serve(measures) })
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		g.drain(ctx, server, cut)
	}
	stop()
	server.Close()
	side.Close()
	all.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (g *Gateway) server(requests context.Context) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(g.config.HTTP2)
	return &http.Server{
		Handler:           g.Handler(),
		Protocols:         &protocols,
		ReadHeaderTimeout: secs(g.config.HeaderReadTimeout),
		IdleTimeout:       secs(g.config.IdleTimeout),
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(g.log, "", 0),
		ConnState:         countConnection,
		BaseContext:       func(net.Listener) context.Context { return requests },
	}
}

func (g *Gateway) listenOn(s *http.Server, l net.Listener) error {
	if g.config.TLSCertPath == "" {
		return s.Serve(l)
	}
	return s.ServeTLS(l, g.config.TLSCertPath, g.config.TLSKeyPath)
}

// drain gives balancers time to look elsewhere and requests time to end, and then ends them.
func (g *Gateway) drain(ctx context.Context, s *http.Server, cut context.CancelCauseFunc) {
	grace := secs(g.config.ShutdownGrace)
	g.draining.Store(true)
	g.log.Info().Dur("grace_ms", grace).Msg("draining")
	accepting := min(grace/2, 5*time.Second)
	time.Sleep(accepting)
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace-accepting)
	defer cancel()
	if s.Shutdown(rest) == nil {
		return
	}
	g.log.Warn().Msg("the grace period is over: ending what still runs")
	cut(errDraining)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	s.Shutdown(last)
}

// Handler is every route of the public port.
func (g *Gateway) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(g.cors, g.observe)
	r.NotFound(handler(notFound).ServeHTTP)
	r.MethodNotAllowed(handler(notAllowed(r)).ServeHTTP)
	get := func(path string, h handler) {
		r.Method(http.MethodGet, path, h)
		r.Method(http.MethodHead, path, h)
	}
	get("/liveness", g.liveness)
	get("/health", g.liveness)
	get("/readiness", g.readiness)
	get("/openapi.json", g.openAPI)
	get("/v1/models", g.listModels)
	get("/v1/models/*", g.showModel)
	get("/loads", g.loads)
	for _, path := range []string{"/health_generate", "/get_server_info", "/get_model_info"} {
		get(path, notImplemented)
	}
	r.Group(func(r chi.Router) {
		r.Use(g.authenticate, g.limit)
		g.adminRoutes(r)
		r.Group(func(r chi.Router) {
			r.Use(g.admit)
			post := func(path string, h handler) { r.Method(http.MethodPost, path, h) }
			post("/v1/chat/completions", g.chat)
			post("/v1/completions", g.complete)
			post("/v1/embeddings", g.embed)
			post("/generate", g.generateNative)
			post("/v1/tokenize", g.tokenize)
			post("/v1/detokenize", g.detokenize)
		})
	})
	return r
}

func notFound(_ *exchange, r *http.Request) error {
	return fail(http.StatusNotFound, "unknown_url", fmt.Sprintf("Invalid URL (%s %s).", clip(r.Method, 20), clip(r.URL.Path, 200)), kindValidation)
}

// notAllowed names the methods that the path does know.
func notAllowed(routes chi.Routes) handler {
	return func(x *exchange, r *http.Request) error {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				x.Header().Add("Allow", method)
			}
		}
		return fail(http.StatusMethodNotAllowed, "method_not_allowed", fmt.Sprintf("Invalid URL (%s %s).", clip(r.Method, 20), clip(r.URL.Path, 200)), kindValidation)
	}
}

// notImplemented stands where the published gateway has a route that it does not serve over gRPC either.
func notImplemented(*exchange, *http.Request) error {
	return fail(http.StatusNotImplemented, "not_implemented", "This is not served over gRPC.", kindValidation)
}

// measuresHandler serves the metrics of all rooms.
func (g *Gateway) measuresHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		metrics.WritePrometheus(w, true)
		g.router.WriteMetrics(w, time.Now())
	})
	return mux
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
