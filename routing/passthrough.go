package routing

// passthrough is the policy passthrough: the first healthy worker in the fleet's order, whatever the request.
type passthrough struct{}

func (passthrough) choose(*decision) int { return 0 }
