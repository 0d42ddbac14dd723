// Package wire holds what the three dialects share on a gRPC connection: how it is dialled, how a status becomes an
// engine.Error, and the messages that are the same for all, or differ in field numbers only. An answer is decoded
// from its bytes straight into an engine.Delta, without a protobuf message between, because that is the one thing
// here that happens for every token.
package wire
