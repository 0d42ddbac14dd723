package chattemplate

import (
	"slices"
	"strconv"
	"strings"
)

// writeV4 writes a conversation as V4 and V4.1 read it: the results of tools are part of the user's turn, and where tools
// are declared earlier thoughts stay.
func writeV4(p *deepSeekPrompt) error {
	effort, err := p.dialect.effort(p)
	if err != nil {
		return err
	}
	if !p.think {
		effort = ""
	}
	p.host(func(_ int, t *deepSeekTurn) bool { return t.role == "system" })
	p.mergeUsers()
	p.sortResults()
	p.keeps = p.declaresTools()
	if v, ok := p.chat.kwargs.Get("drop_thinking"); ok && !truth(v) {
		p.keeps = true
	}
	p.findLastUser()
	if p.think && !p.keeps {
		p.dropBefore(p.lastUser)
	}
	if p.dialect.system != "" && (effort != "" || p.turns[0].role == "system") {
		p.b.WriteString(p.dialect.system)
	}
	p.b.WriteString(effort)
	for i, t := range p.turns {
		if err := p.turnV4(i, t); err != nil {
			return err
		}
	}
	return nil
}

// mergeUsers makes one turn of a run of user's messages and results. A user's message with a task ends its turn.
func (p *deepSeekPrompt) mergeUsers() {
	var merged []*deepSeekTurn
	for _, t := range p.turns {
		if t.role != "user" && t.role != "tool" {
			merged = append(merged, t)
			continue
		}
		part := deepSeekIO{text: t.content, id: t.id, isResult: t.role == "tool"}
		if n := len(merged); n > 0 && merged[n-1].role == "user" && (part.isResult || merged[n-1].task == "") {
			merged[n-1].parts = append(merged[n-1].parts, part)
			continue
		}
		user := &deepSeekTurn{at: t.at, role: "user", parts: []deepSeekIO{part}}
		if !part.isResult {
			user.task = t.task
		}
		merged = append(merged, user)
	}
	p.turns = merged
}

// sortResults puts the results within each turn in the order of the calls before; those of unknown calls count as the first.
func (p *deepSeekPrompt) sortResults() {
	order := map[string]int{}
	for _, t := range p.turns {
		if t.role == "assistant" && len(t.calls) > 0 {
			clear(order)
			for i, call := range t.calls {
				if call.id != "" {
					order[call.id] = i
				}
			}
		}
		var results []deepSeekIO
		for _, part := range t.parts {
			if part.isResult {
				results = append(results, part)
			}
		}
		slices.SortStableFunc(results, func(a, b deepSeekIO) int { return order[a.id] - order[b.id] })
		for i, part := range t.parts {
			if part.isResult {
				t.parts[i], results = results[0], results[1:]
			}
		}
	}
}

// dropBefore takes the thoughts out of the turns before the user's last, and the developer's messages.
func (p *deepSeekPrompt) dropBefore(lastUser int) {
	kept := p.turns[:0:0]
	for i, t := range p.turns {
		switch t.role {
		case "user", "system", "tool", "latest_reminder":
		default:
			if i < lastUser && t.role != "assistant" {
				continue
			}
		}
		kept = append(kept, t)
	}
	p.turns = kept
	p.findLastUser()
}

func (p *deepSeekPrompt) turnV4(i int, t *deepSeekTurn) error {
	declared, err := p.declarations(t)
	if err != nil {
		return err
	}
	switch t.role {
	case "system":
		if i > 0 {
			p.b.WriteString(p.dialect.system)
		}
		p.b.WriteString(t.content + declared)
	case "developer":
		if t.content == "" {
			return p.emptyDeveloper(t)
		}
		p.b.WriteString(deepSeekUser + t.content + declared)
	case "user":
		p.b.WriteString(deepSeekUser + t.joined())
	case "latest_reminder":
		p.b.WriteString(deepSeekReminder + t.content)
	case "assistant":
		followsTask := i > 0 && p.turns[i-1].task != ""
		if p.think && !followsTask && (p.keeps || i > p.lastUser) {
			p.b.WriteString(t.reasoning + thinkClose)
		}
		p.b.WriteString(t.content + p.callBlock(t.calls))
		if !t.open {
			p.b.WriteString(deepSeekEOS)
		}
	default:
		return p.unknownRole(t)
	}
	return p.handOver(i, t)
}

// joined is the text of a user's turn.
func (t *deepSeekTurn) joined() string {
	texts := make([]string, len(t.parts))
	for i, part := range t.parts {
		if texts[i] = part.text; part.isResult {
			texts[i] = "<tool_result>" + part.text + "</tool_result>"
		}
	}
	return strings.Join(texts, "\n\n")
}

// handOver opens the assistant's turn after turn i, if that is what follows.
func (p *deepSeekPrompt) handOver(i int, t *deepSeekTurn) error {
	next := ""
	if i+1 < len(p.turns) {
		if next = p.turns[i+1].role; next != "assistant" && next != "latest_reminder" {
			return nil
		}
	}
	opens := p.think && (p.keeps || i >= p.lastUser)
	if t.task != "" {
		token := "<｜" + t.task + "｜>"
		switch t.task {
		case "action":
			p.b.WriteString(deepSeekAssistant)
			p.openThought(p.think)
		case "query", "authority", "domain", "title", "read_url":
		default:
			return invalid("messages["+strconv.Itoa(t.at)+"].task", "it must be action, query, authority, domain, title or read_url.")
		}
		p.b.WriteString(token)
		return nil
	}
	switch t.role {
	case "system":
		if p.dialect.system != "" && i == 0 || p.dialect.system == "" && next == "latest_reminder" {
			return nil
		}
	case "user", "developer":
	default:
		return nil
	}
	p.b.WriteString(deepSeekAssistant)
	p.openThought(opens)
	return nil
}
