// Package e2e tests leeway as users meet it: the built binary on real ports, real clients, real peers; and it
// tests the shape of the code: who imports whom, and how long a function may be.
package e2e
