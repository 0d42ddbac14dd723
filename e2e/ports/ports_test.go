package ports

import (
	"fmt"
	"net"
	"testing"
)

func TestAPortIsFreeAndGivenOnce(t *testing.T) {
	var f Finder
	given := map[int]bool{}
	for range 20 {
		first := f.Free(3)
		for port := first; port < first+3; port++ {
			if given[port] {
				t.Errorf("port %d is given twice", port)
			}
			given[port] = true
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if free(port, 1) {
				t.Errorf("port %d is listened on and passes for free", port)
			}
		}
	}
}
