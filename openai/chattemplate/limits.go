package chattemplate

// Limits bound one render. A zero field takes its value from DefaultLimits.
type Limits struct {
	Steps  int // statements, calls and list items evaluated; long values cost one step per scanStep, copyStep, textStep or workStep bytes
	Output int // bytes of text held at once
	Depth  int // nested macro calls, recursive loops and values
	Range  int // length of a range(), jinja2's own limit being 100000
}

// DefaultLimits leave two orders of magnitude above what published templates need for a 100k-token conversation.
func DefaultLimits() Limits {
	return Limits{Steps: 10_000_000, Output: 16 << 20, Depth: 200, Range: 100_000}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	if l.Steps == 0 {
		l.Steps = d.Steps
	}
	if l.Output == 0 {
		l.Output = d.Output
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	if l.Range == 0 {
		l.Range = d.Range
	}
	return l
}

// Bounds on a template's source; nothing published comes near them.
const (
	copyStep   = 128     // bytes of a long string that count as one step where they are copied
	scanStep   = 64      // where they are compared or hashed
	textStep   = 16      // where they are searched
	workStep   = 2       // and where each is looked at and rewritten
	itemSteps  = 3       // that an item costs where a list of new values is made
	entrySteps = 4       // and an entry where a dict is made
	maxMessage = 4000    // bytes of an exception's message that are kept
	maxSource  = 4 << 20 // bytes
	maxNesting = 300     // of expressions and statements in the source
	maxChain   = 100_000 // of operators in one tag
	maxDigits  = 4300    // of an integer turned into text, Python's own limit
	maxBits    = 1 << 20 // of an integer that an operation yields
	maxTree    = 1000    // of operators in a row, and of values inside values; Python stops at about the same depth
)
