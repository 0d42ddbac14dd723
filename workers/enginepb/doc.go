// Package enginepb holds the .proto files of the three engine dialects, our own wording of the published
// protocol, and generates the Go packages below it. The generated code is committed; CI checks that it is current.
package enginepb

//go:generate go run ./gen common.proto sglang.proto vllm.proto tokenspeed.proto
