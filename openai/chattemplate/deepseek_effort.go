package chattemplate

import "strconv"

// noEffortSays is for models whose thought no effort switches.
func noEffortSays(string) (on, said bool) { return false, false }

// noneEffortSays is for models on which only the effort none says something.
func noneEffortSays(effort string) (on, said bool) { return false, effort == "none" }

// anyEffortSays is for models on which every effort but none switches the thought on.
func anyEffortSays(effort string) (on, said bool) { return effort != "none", effort != "" }

// knownEffortSays is for models on which their own names for efforts switch the thought on.
func knownEffortSays(effort string) (on, said bool) {
	switch effort {
	case "none", "minimal":
		return false, true
	case "low", "high", "xhigh", "max":
		return true, true
	}
	return false, false
}

// effortV4 is the paragraph that urges the model to think.
func effortV4(levels map[string]string) func(p *deepSeekPrompt) (string, error) {
	return func(p *deepSeekPrompt) (string, error) {
		name, _ := text(p.chat.effortValue())
		switch name {
		case "low", "minimal", "medium":
			name = "low"
		case "max":
		default:
			name = "high"
		}
		return levels[name], nil
	}
}

// effortV41 is a number from 1 to 100, or one of four names for such.
func effortV41(p *deepSeekPrompt) (string, error) {
	budget := 0
	switch v := p.chat.effortValue().(type) {
	case Int:
		budget = int(v)
	case Str:
		switch v {
		case "", "none", "minimal", "high", "xhigh":
			budget = 75
		case "low":
			budget = 50
		case "max":
			budget = 100
		default:
			budget, _ = strconv.Atoi(string(v))
		}
	}
	if budget < 1 || budget > 100 {
		return "", invalid("reasoning_effort", "it must be low, high, xhigh, max or a number from 1 to 100.")
	}
	return "Reasoning Effort: " + strconv.Itoa(budget) + " (range 1-100, the higher the value, the more thorough the reasoning)\n\n", nil
}
