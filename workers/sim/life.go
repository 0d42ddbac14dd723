package sim

import (
	"context"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

// life is one process of a worker: from its start to its end.
type life struct {
	w        *Worker
	started  time.Time
	ctx      context.Context // ends with the process
	end      context.CancelFunc
	engines  context.Context // ends with the engine core
	endCore  context.CancelFunc
	health   *health.Server
	cores    []*core
	events   *publisher
	server   *grpc.Server
	listener *trackedListener
	tasks    sync.WaitGroup
	stale    staleLoads

	mu    sync.Mutex
	calls map[string][]*call
}

// maxMessage is what the real servers take.
const maxMessage = 256 << 20

// newLife builds a process around a listener. Nothing runs before run.
func newLife(w *Worker, listener net.Listener, seq []uint64) *life {
	l := &life{
		w: w, started: time.Now(), calls: map[string][]*call{},
		listener: &trackedListener{Listener: listener, conns: map[string]net.Conn{}},
	}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.engines, l.endCore = context.WithCancel(l.ctx)
	deployment, _ := DeploymentNamed(w.o.Engine)
	l.events = newPublisher(w, seq)
	for rank := range w.o.Ranks {
		l.cores = append(l.cores, &core{
			rank: rank, speed: w.o.Speed, start: l.started, wake: make(chan struct{}, 1),
			publish: l.events.publish, compose: l.compose, teller: newTeller(w.o), choices: map[*Job]*choice{},
			cleared: w.o.dialect() != engine.TokenSpeed, // these engines reset their cache as they start
			engine: NewEngine(EngineOptions{
				Deployment: deployment, BlockSize: w.o.BlockSize, KVTokens: w.o.KVTokens, MaxRunning: w.o.MaxRunning,
			}),
		})
	}
	l.server = l.newServer()
	return l
}

// newServer makes the gRPC server with the limits of the real ones: big messages, pings no faster than every ten
// seconds. Its Stop waits for handlers, so that a killed process leaves nothing behind.
func (l *life) newServer() *grpc.Server {
	s := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(math.MaxUint32), grpc.WaitForHandlers(true),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(l.interceptUnary), grpc.StreamInterceptor(l.interceptStream),
		grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(4<<20),
	)
	service := ""
	switch l.w.o.dialect() {
	case engine.VLLM:
		vllmpb.RegisterVllmEngineServer(s, &vllmFace{commonFace: commonFace{l}})
		service = vllmpb.VllmEngine_ServiceDesc.ServiceName
	case engine.TokenSpeed:
		tokenspeedpb.RegisterTokenSpeedSchedulerServer(s, &tokenspeedFace{commonFace: commonFace{l}})
		service = tokenspeedpb.TokenSpeedScheduler_ServiceDesc.ServiceName
	default:
		sglangpb.RegisterSglangSchedulerServer(s, &sglangFace{commonFace: commonFace{l}})
		service = sglangpb.SglangScheduler_ServiceDesc.ServiceName
	}
	l.health = health.NewServer()
	l.health.SetServingStatus(service, healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(s, &healthFace{l.health, l})
	reflection.Register(s)
	return s
}

// healthFace is the standard health service.
type healthFace struct {
	*health.Server
	life *life
}

func (f *healthFace) Check(ctx context.Context, q *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	if f.life.w.faults.on(FaultNotServing) {
		return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_NOT_SERVING}, nil
	}
	return f.Server.Check(ctx, q)
}

// run starts what the process consists of.
func (l *life) run() {
	for _, c := range l.cores {
		l.tasks.Go(func() { c.run(l.engines) })
	}
	l.tasks.Go(func() { l.server.Serve(l.listener) })
}

// kill ends the process at once and waits until it is gone.
func (l *life) kill() {
	l.end()
	l.listener.Close()
	l.listener.drop("")
	l.server.Stop()
	l.tasks.Wait()
}

// killCore ends the engines and leaves everything else as it is.
func (l *life) killCore() {
	l.endCore()
	l.health.Shutdown()
}

// healthy is what a health probe finds.
func (l *life) healthy() bool {
	return l.engines.Err() == nil && !l.w.faults.on(FaultUnhealthy)
}

// register enters a call under its id, so that an Abort finds it; a deaf one stays unknown.
func (l *life) register(c *call, deaf bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w.o.servicer() == Rust && len(l.calls[c.req.ID]) > 0 {
		return status.Errorf(codes.AlreadyExists, "request %q is running", c.req.ID)
	}
	if !deaf {
		l.calls[c.req.ID] = append(l.calls[c.req.ID], c)
	}
	return nil
}

// unregister takes a call off the books; an Abort may have done so before.
func (l *life) unregister(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := slices.DeleteFunc(l.calls[c.req.ID], func(other *call) bool { return other == c })
	if len(rest) == 0 {
		delete(l.calls, c.req.ID)
	} else {
		l.calls[c.req.ID] = rest
	}
}

// abort ends the calls of an id; one that nobody knows is no error.
func (l *life) abort(id, reason string) {
	l.w.journal.add(Record{Act: Aborted, ID: id, Detail: reason})
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls[id] {
		close(c.aborted)
	}
	delete(l.calls, id)
}

// active counts the request ids at work.
func (l *life) active() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// interceptUnary does to any call what a fault wants of its method; Generate has its own ways.
func (l *life) interceptUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := l.disturb(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

// interceptStream does the same to calls that stream.
func (l *life) interceptStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := l.disturb(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, stream)
}

// disturb lets the faults of a method strike. An error is the call's status.
func (l *life) disturb(ctx context.Context, fullMethod string) error {
	method := fullMethod[strings.LastIndexByte(fullMethod, '/')+1:]
	struck := l.w.faults.fire(func(f Fault) bool {
		ofCalls := f.Kind == FaultDelay || f.Kind == FaultStall || f.Kind == FaultError
		return f.Kind == FaultUnimplemented && f.method() == method || ofCalls && method != "Generate" && f.method() == method
	})
	for _, f := range struck {
		switch f.Kind {
		case FaultUnimplemented:
			return status.Errorf(codes.Unimplemented, "method %s is not implemented", method)
		case FaultError:
			return status.Error(f.code(codes.Unavailable), f.Message)
		case FaultStall:
			if f.For == 0 {
				<-ctx.Done()
				return status.FromContextError(ctx.Err()).Err()
			}
		}
		if !sleep(ctx, time.Duration(f.For)) {
			return status.FromContextError(ctx.Err()).Err()
		}
	}
	return nil
}

// dropConnection breaks the connection that a call came on.
func (l *life) dropConnection(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		l.listener.drop(p.Addr.String())
	}
}
