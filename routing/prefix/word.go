package prefix

// Word says whether a view is certified, or why it is not. The set is closed: words are metric labels.
type Word uint8

// The words.
const (
	None Word = iota // nothing was asked, and nothing is wrong
	Certified
	Warming     // no batch has come yet
	Suspended   // the stream is lost; the next one may show that nothing was missed
	Gap         // batches were missed
	Reconnect   // a new stream did not go on where the old one ended
	Restart     // the engine started anew
	Corrupt     // the events contradict each other
	BlockSize   // blocks of two sizes in one view
	Ranks       // several ranks behind an address that is not chosen by rank
	Stale       // quiet for too long, or changed while it was read
	Unsupported // the worker has no event stream
	Evicted     // dropped to stay within the memory bound
	Refuted     // the engine found less cached than the view claimed
	Tokenizer   // the engine counts other prompt tokens than we do
	Unhealthy   // the engine failed its health check
	words
)

var wordNames = [words]string{
	"none", "certified", "warming", "suspended", "gap", "reconnect", "restart", "corrupt", "block_size", "ranks", "stale",
	"unsupported", "evicted", "refuted", "tokenizer", "unhealthy",
}

func (w Word) String() string {
	if w < words {
		return wordNames[w]
	}
	return "invalid"
}

// MarshalText writes the word as String does.
func (w Word) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what MarshalText wrote; a word of a later version reads as warming, which certifies nothing.
func (w *Word) UnmarshalText(text []byte) error {
	*w = Warming
	for i, name := range wordNames {
		if name == string(text) {
			*w = Word(i)
		}
	}
	return nil
}

// status is a word, a block size and a generation in one number, so that a reader sees all three of one moment.
// The generation rises whenever the certificate or what it covers is lost or regained: a claim made under another
// status is void.
type status uint64

func newStatus(generation uint32, size int, w Word) status {
	return status(generation)<<32 | status(size)<<8 | status(w)
}

func (s status) word() Word         { return Word(s) }
func (s status) size() int          { return int(s>>8) & maxBlockSize }
func (s status) generation() uint32 { return uint32(s >> 32) }

// maxBlockSize is the largest block, in tokens, that a status can name.
const maxBlockSize = 1<<24 - 1
