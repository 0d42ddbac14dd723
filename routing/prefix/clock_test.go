package prefix

import (
	"testing"
	"time"
)

// A moment has two readings: of the clock, which may be set, and of the time that has passed. The second cannot be set
// for a test; it is what Nanos goes by, as two moments that have it show.
func TestMomentsAreInOrderAndNearUnixTime(t *testing.T) {
	before := time.Now()
	after := before.Add(time.Millisecond)
	if Nanos(after)-Nanos(before) != int64(time.Millisecond) {
		t.Error("a millisecond is not one")
	}
	if apart := Nanos(before) - before.UnixNano(); max(apart, -apart) > int64(time.Hour) {
		t.Errorf("%d ns from Unix time", apart)
	}
	if said := time.Unix(1700000000, 5); Nanos(said) != said.UnixNano() {
		t.Errorf("%d", Nanos(said))
	}
}
