package tokenizer

// nodeKind is what a part of a regular expression does.
type nodeKind uint8

const (
	nodeSet    nodeKind = iota // one character of a class
	nodeCat                    // parts in a row
	nodeAlt                    // one of the parts, the first that works
	nodeRepeat                 // its part again and again
	nodeAtomic                 // its part, which once matched is not tried another way
	nodeLook                   // its part must match here, or must not, and takes nothing
	nodeAssert                 // a place in the text
)

// regexNode is a part of a regular expression.
type regexNode struct {
	kind     nodeKind
	set      ranges
	parts    []*regexNode
	min, max int // max < 0: no limit
	lazy     bool
	negate   bool
	back     bool // of a look: at what ends here
	assert   assertion
}

// assertion is a condition on a place in a text.
type assertion uint8

const (
	textStart assertion = iota
	textEnd
	lastLineEnd // the end, or before a line feed that is the last character
	lineStart
	lineEnd
	wordEdge
	notWordEdge
)

// canBeEmpty tells whether a part may match without taking a character.
func (n *regexNode) canBeEmpty() bool {
	switch n.kind {
	case nodeSet:
		return false
	case nodeCat:
		for _, part := range n.parts {
			if !part.canBeEmpty() {
				return false
			}
		}
		return true
	case nodeAlt:
		for _, part := range n.parts {
			if part.canBeEmpty() {
				return true
			}
		}
		return false
	case nodeRepeat:
		return n.min == 0 || n.parts[0].canBeEmpty()
	case nodeAtomic:
		return n.parts[0].canBeEmpty()
	}
	return true
}

// appendBegin appends the characters that a match which takes any begins with.
func (n *regexNode) appendBegin(all ranges) ranges {
	switch n.kind {
	case nodeSet:
		return append(all, n.set...)
	case nodeCat, nodeAlt, nodeRepeat, nodeAtomic:
		for _, part := range n.parts {
			all = part.appendBegin(all)
			if n.kind == nodeCat && !part.canBeEmpty() {
				break
			}
		}
	}
	return all
}

// looksForward tells whether a part reads forwards even in a look-behind, which can hold no such part.
func (n *regexNode) looksForward() bool {
	if n.kind == nodeLook || n.kind == nodeAtomic {
		return true
	}
	for _, part := range n.parts {
		if part.looksForward() {
			return true
		}
	}
	return false
}

func (n *regexNode) repeat(low, high int, lazy bool) *regexNode {
	return &regexNode{kind: nodeRepeat, parts: []*regexNode{n}, min: low, max: high, lazy: lazy}
}
