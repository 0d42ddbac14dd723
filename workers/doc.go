// Package workers reaches the inference engines: it keeps a connection to each, finds out what it is and how it
// fares, tells the router, and runs requests on it. It is the only room that speaks gRPC.
//
// A worker's life is one goroutine (worker.go): it connects, asks which dialect is spoken and what is served, and
// then serves until its health is lost, when it begins again. While it serves, two more goroutines of the session
// poll its load (load.go) and follow its KV events (cache.go). Whatever changes who may be chosen goes through
// Pool.publish, which replaces the router's fleet. Nothing runs before Pool.Run, and Run waits for all of it.
package workers
