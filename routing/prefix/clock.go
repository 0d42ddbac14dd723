package prefix

import "time"

// epoch is the beginning of 1970 by the clock as it stood when the process began.
var epoch = func() time.Time {
	now := time.Now()
	return now.Add(-time.Duration(now.UnixNano()))
}()

// Nanos is a moment in Unix nanoseconds, but for what the clock has been set by since the process began: a moment of
// time.Now is never before an earlier one.
func Nanos(t time.Time) int64 { return int64(t.Sub(epoch)) }
