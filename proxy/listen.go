package proxy

import (
	"fmt"
	"net"
	"strconv"
)

// Listeners are the ports that a gateway answers on.
type Listeners struct {
	Public   net.Listener
	Measures net.Listener
	Health   net.Listener // nil: health is asked for on the public port only
}

// Listen opens all ports, or none.
func (c Config) Listen() (on Listeners, err error) {
	on.Public, err = listen("port", c.Host, c.Port)
	if err == nil {
		on.Measures, err = listen("prometheus_port", c.PrometheusHost, c.PrometheusPort)
	}
	if err == nil && c.HealthPort != 0 {
		on.Health, err = listen("health_check_port", c.Host, c.HealthPort)
	}
	if err != nil {
		on.close()
		return Listeners{}, err
	}
	return on, nil
}

func (on Listeners) close() {
	for _, l := range []net.Listener{on.Public, on.Measures, on.Health} {
		if l != nil {
			l.Close()
		}
	}
}

func listen(key, host string, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen: %w; choose another port or end what holds it", key, err)
	}
	return l, nil
}
