// Package routing decides which worker serves a request, and says why.
//
// The decision has three layers. A policy makes the base choice; the one that matters is least_load, a score in
// seconds of waiting (leastload.go). On top of it a bounded preference (preference.go) may move the request to a
// worker that can prove that it already holds the prompt's KV cache, but only if the prefill seconds it saves are
// more than the seconds by which its score is worse. A receipt (receipt.go) records everything that was seen.
//
// The package is pure: no I/O, no goroutine, no clock, no log. Time is an argument, chance comes from a seed, and
// the same calls in the same order give the same choices. What a worker holds is package prefix's business.
//
// One lock guards all that decisions read and write, so that choosing a worker and charging it for the request are
// one step: a hundred requests at once see each other. The fleet is replaced, never edited; the prompt's blocks are
// looked up before the lock is taken and their certificates checked again under it.
package routing
