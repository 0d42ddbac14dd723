package chattemplate

import "fmt"

// writeV32 writes a conversation as V3.2 reads it: the results of tools follow the calls within the assistant's turn.
func writeV32(p *deepSeekPrompt) error {
	p.host(func(i int, t *deepSeekTurn) bool { return i == 0 && (t.role == "system" || t.role == "developer") })
	p.findLastUser()
	if p.think && !p.declaresTools() {
		p.dropBefore(p.lastUser)
	}
	for i, t := range p.turns {
		if err := p.turnV32(i, t); err != nil {
			return err
		}
	}
	return nil
}

func (p *deepSeekPrompt) turnV32(i int, t *deepSeekTurn) error {
	declared, err := p.declarations(t)
	if err != nil {
		return err
	}
	switch t.role {
	case "system":
		p.b.WriteString(t.content + declared)
	case "developer":
		if t.content == "" {
			return p.emptyDeveloper(t)
		}
		p.b.WriteString(deepSeekUser + declared + "\n\n# The user's message is: " + t.content + deepSeekAssistant)
		p.openThought(p.think && i == p.lastUser)
	case "user":
		p.b.WriteString(deepSeekUser + t.content + deepSeekAssistant)
		p.openThought(p.think && i == p.lastUser)
	case "tool":
		return p.resultV32(i, t)
	case "assistant":
		return p.assistantV32(i, t)
	default:
		return p.unknownRole(t)
	}
	return nil
}

func (p *deepSeekPrompt) assistantV32(i int, t *deepSeekTurn) error {
	thought := ""
	if p.think && i > p.lastUser {
		if t.reasoning == "" && len(t.calls) == 0 && !t.open {
			return invalid(fmt.Sprintf("messages[%d]", t.at), "while the model thinks, the assistant's message after the user's last needs reasoning_content or tool_calls.")
		}
		thought = t.reasoning + thinkClose
	}
	p.b.WriteString(thought + t.content + p.callBlock(t.calls))
	if !t.open || len(t.calls) > 0 && !p.chat.req.ContinueFinalMessage {
		p.b.WriteString(deepSeekEOS)
	}
	return nil
}

// resultV32 writes what a tool gave back; the last of the results that the calls promise ends their list.
func (p *deepSeekPrompt) resultV32(i int, t *deepSeekTurn) error {
	first := i
	for first > 0 && p.turns[first-1].role == "tool" {
		first--
	}
	promised := 0
	if first > 0 && p.turns[first-1].role == "assistant" {
		promised = len(p.turns[first-1].calls)
	}
	order := i - first + 1
	if order > promised {
		return invalid(fmt.Sprintf("messages[%d]", t.at), "the result of a tool needs a call of it in the assistant's message before.")
	}
	if order == 1 {
		p.b.WriteString("\n\n<function_results>")
	}
	p.b.WriteString("\n<result>" + t.content + "</result>")
	if order == promised {
		p.b.WriteString("\n</function_results>\n\n")
		p.openThought(p.think && i >= p.lastUser)
	}
	return nil
}
