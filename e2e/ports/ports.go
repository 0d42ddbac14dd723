// Package ports finds ports for the programs that tests and benchmarks start.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// They lie below those that systems give to outgoing connections: nothing else should take one before its program does.
const lowest, count = 10_000, 20_000

// Finder gives each port once. The zero value is ready, and safe for concurrent use.
type Finder struct {
	mu    sync.Mutex
	begun bool
	next  int
}

// Free returns the first of n consecutive loopback ports that nobody listens on.
func (f *Finder) Free(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.begun { // somewhere else than the next program that looks for ports
		f.begun, f.next = true, rand.IntN(count)
	}
	for {
		first := lowest + f.next%(count-n)
		f.next += n
		if free(first, n) {
			return first
		}
	}
}

func free(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		defer l.Close()
	}
	return true
}
