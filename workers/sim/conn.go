package sim

import (
	"net"
	"sync"
)

// trackedListener knows the connections it accepted, so that they can be broken.
type trackedListener struct {
	net.Listener
	mu    sync.Mutex
	conns map[string]net.Conn
}

// Accept takes a connection and remembers it until it is closed.
func (t *trackedListener) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[c.RemoteAddr().String()] = c
	return &trackedConn{Conn: c, owner: t}, nil
}

// drop breaks the connection from addr, or all of them. Nothing is left to linger: the peer sees a reset.
func (t *trackedListener) drop(addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for a, c := range t.conns {
		if addr == "" || a == addr {
			if tcp, ok := c.(*net.TCPConn); ok {
				tcp.SetLinger(0)
			}
			c.Close()
		}
	}
}

// trackedConn is a connection that takes itself off its listener's list.
type trackedConn struct {
	net.Conn
	owner *trackedListener
}

func (c *trackedConn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.conns, c.RemoteAddr().String())
	c.owner.mu.Unlock()
	return c.Conn.Close()
}
