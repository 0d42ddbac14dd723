// Package proxy is the hall of the house: the only room that speaks HTTP. A request enters here, walks through the
// other three rooms and leaves as a JSON body or as server-sent events.
//
// # The journey of a chat request
//
//	1  server.go, middleware.go   connection → request with id, logger, limits        401, 404, 413, 429
//	2  chat.go                    holds the sequence: 3 to 8 are its lines
//	3  openai                     body → ChatRequest                                  400
//	4  prompt.go                  messages → text → token ids, stops, constraint      400, 404
//	5  generate.go → routing      tokens → a lease on a worker                        503
//	6  generate.go → workers      lease → stream with its first delta read            elsewhere again, back to 5
//	   from here the client has bytes, and nothing is tried again
//	7  answer.go                  delta → text → stop, reasoning, tools → chunk
//	8  sse.go or JSON             chunk → event, flushed; [DONE]                      an error event
//	9  deferred                   abort or close, release the lease, count
//
// The answer comes back as return values in one frame: next, add, send. There is no callback upwards and no goroutine
// a request. A comment that keeps an idle connection alive is the one reason to send headers before the first delta;
// a failure after that is an event, and no other worker is tried.
//
// # Invariants
//
//   - A lease is released exactly once, on every path; at rest every count of requests in flight is zero.
//   - Nothing is retried after a byte has gone out; a failed worker is not tried again for the same request while
//     another is left.
//   - Every event ends with a blank line and is flushed; [DONE] comes once, last; model text can never end a stream.
//   - A client that leaves frees its worker within 100 ms, also during prefill.
//   - New starts no goroutine; Serve waits for what it started.
//   - An internal error's text never reaches a client; a client's content never reaches a log above debug; a client's
//     key reaches neither a log nor a worker.
//   - Text and completion counts come from the ids of the deltas alone; prompt and cached counts are the worker's.
package proxy
