package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
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
	asked     atomic.Int64 // when anybody last asked for anything, in Unix nanoseconds
	lastLoads loadCache

	credentials credentials
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
	g := &Gateway{
		config: c, models: models, router: router, pool: pool, log: logger, journal: journal,
		admission: &admission{limit: c.concurrency(), rate: c.RateLimit, queue: c.QueueSize, timeout: secs(c.QueueTimeout)},
	}
	if err := g.credentials.load(c); err != nil {
		return nil, err
	}
	return g, nil
}

// Serve answers on all listeners until ctx ends, and then drains: readiness says so at once, new requests are still
// taken for a moment, and those that run are let finish within the grace period. It returns when everything that it
// started has ended; a drain that ran out of time is no error.
func (g *Gateway) Serve(ctx context.Context, on Listeners) error {
	requests, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	server := g.server(requests)
	measures := &http.Server{Handler: g.measuresHandler(), ReadHeaderTimeout: 10 * time.Second}
	health := &http.Server{Handler: g.healthHandler(), ReadHeaderTimeout: 10 * time.Second}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	g.log.Info().Stringer("address", on.Public.Addr()).Stringer("metrics", on.Measures.Addr()).Msg("listening")
	all.Go(func() { g.models.run(background) })
	all.Go(func() { g.journal.run(background) })
	failed := make(chan error, 3)
	all.Go(func() { failed <- g.listenOn(server, on.Public) })
	all.Go(func() { failed <- measures.Serve(on.Measures) })
	if on.Health != nil {
		all.Go(func() { failed <- health.Serve(on.Health) })
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		g.drain(ctx, server, cut)
	}
	stop()
	server.Close()
	measures.Close()
	health.Close()
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
	s.TLSConfig = &tls.Config{GetCertificate: g.credentials.certificate}
	return s.ServeTLS(l, "", "")
}

// Handler is every route of the public port.
func (g *Gateway) Handler() http.Handler {
	r := g.newRouter()
	get := func(path string, h handler) { readable(r, path, h) }
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

// healthHandler is every route of the port for health checks.
func (g *Gateway) healthHandler() http.Handler { return g.newRouter() }

// newRouter knows the routes that all ports for HTTP have, and what to say where there is none.
func (g *Gateway) newRouter() chi.Router {
	r := chi.NewRouter()
	r.Use(g.cors, g.observe)
	r.NotFound(handler(notFound).ServeHTTP)
	r.MethodNotAllowed(handler(notAllowed(r)).ServeHTTP)
	readable(r, "/liveness", g.liveness)
	readable(r, "/health", g.liveness)
	readable(r, "/readiness", g.readiness)
	return r
}

// readable is a route for GET, and for HEAD.
func readable(r chi.Router, path string, h handler) {
	r.Method(http.MethodGet, path, h)
	r.Method(http.MethodHead, path, h)
}

func notFound(_ *exchange, r *http.Request) error {
	return fail(http.StatusNotFound, "unknown_url", fmt.Sprintf("Invalid URL (%s %s).", clip(r.Method, 20), clip(r.URL.Path, 200)), kindValidation)
}

// notAllowed names the methods that the path does know.
func notAllowed(routes chi.Routes) handler {
	return func(x *exchange, r *http.Request) error {
		known := slices.DeleteFunc([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, func(method string) bool {
			return !routes.Match(chi.NewRouteContext(), method, r.URL.Path)
		})
		x.Header().Set("Allow", strings.Join(known, ","))
		return fail(http.StatusMethodNotAllowed, "method_not_allowed", fmt.Sprintf("Invalid URL (%s %s).", clip(r.Method, 20), clip(r.URL.Path, 200)), kindValidation)
	}
}

// notImplemented stands where the published gateway has a route that it does not serve over gRPC either.
func notImplemented(*exchange, *http.Request) error {
	return fail(http.StatusNotImplemented, "not_implemented", "This is not served over gRPC.", kindValidation)
}

// measuresHandler serves the metrics of all rooms.
func (g *Gateway) measuresHandler() http.Handler {
	metrics.ExposeMetadata(true)
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
