package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"leeway/openai/tokenizer"
	"leeway/workers/engine"
)

// voice turns what a worker has to say into tokens.
type voice struct {
	tokenizer  *tokenizer.Tokenizer
	deployment Deployment
	vocab      int // ids from here on are outside the model
	eos        []uint32
	canned     []uint32
	replies    []Reply
}

// filler is what a canned worker says over and over.
const filler = "Every token of this answer comes on the beat, and the next one follows it as far as you care to count. "

// loadVoice reads the tokenizer, and packs it as the worker hands it out.
func loadVoice(o Options) (*voice, []byte, error) {
	dir, err := tokenizerDir(o.TokenizerPath)
	if err != nil {
		return nil, nil, err
	}
	v := &voice{}
	v.deployment, _ = DeploymentNamed(o.Engine)
	if err := v.read(dir); err != nil {
		return nil, nil, fmt.Errorf("tokenizer-path: %w", err)
	}
	if o.Replies != "" {
		f, err := os.Open(o.Replies)
		if err != nil {
			return nil, nil, fmt.Errorf("replies: %w", err)
		}
		defer f.Close()
		if v.replies, err = ParseReplies(f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.Replies, err)
		}
	}
	bundle, err := bundleTokenizer(dir)
	return v, bundle, err
}

// tokenizerDir opens a directory, or the embedded one where no path is given.
func tokenizerDir(path string) (fs.FS, error) {
	if path == "" {
		return DemoTokenizer()
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer-path: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("tokenizer-path: %s is not a directory", path)
	}
	return os.DirFS(path), nil
}

// read loads the tokenizer and what else a directory says of its model.
func (v *voice) read(dir fs.FS) (err error) {
	if v.tokenizer, err = tokenizer.Load(dir); err != nil {
		return err
	}
	padded, err := paddedVocabulary(dir)
	if err != nil {
		return err
	}
	v.vocab = max(padded, v.tokenizer.VocabSize())
	if v.eos = v.tokenizer.EOS(); len(v.eos) == 0 {
		return errors.New("no file of it names an end token")
	}
	v.canned = v.encode(filler)
	return nil
}

// paddedVocabulary is the size of the model's embedding, which may be larger than the tokenizer's vocabulary; 0 where
// no config.json says it.
func paddedVocabulary(dir fs.FS) (int, error) {
	data, err := fs.ReadFile(dir, "config.json")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var config struct {
		VocabSize  int `json:"vocab_size"`
		TextConfig struct {
			VocabSize int `json:"vocab_size"`
		} `json:"text_config"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return 0, fmt.Errorf("config.json: %w", err)
	}
	return max(config.VocabSize, config.TextConfig.VocabSize), nil
}

func (v *voice) encode(text string) []uint32 { return v.tokenizer.Encode(text, false) }

func (v *voice) decode(ids []uint32) string { return v.tokenizer.Decode(ids, false) }

// decoder decodes one answer, token by token.
func (v *voice) decoder() func(uint32) string {
	d := v.tokenizer.NewDecoder(true)
	var buf []byte
	return func(id uint32) string {
		buf = d.Append(buf[:0], id)
		return string(buf)
	}
}

// facts are what an answer tells about its request.
type facts struct {
	addr             string
	dialect          engine.Dialect
	prompt, cached   int
	running, waiting int
}

// reply is what a prompt is answered with: the text of the first reply that matches, else the facts.
func (v *voice) reply(req *engine.Request, f facts) []uint32 {
	if len(v.replies) > 0 {
		prompt := v.decode(req.Tokens)
		for _, r := range v.replies {
			if strings.Contains(prompt, r.Match) {
				return v.encode(r.Text)
			}
		}
	}
	return v.encode(v.report(f))
}

// report puts the facts into words.
func (v *voice) report(f facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your request went to worker %s, which speaks %s and simulates %s. ", f.addr, f.dialect, v.deployment.Name)
	whole := v.deployment.Prefill(f.prompt, 0)
	saved := whole - v.deployment.Prefill(f.prompt, f.cached)
	fmt.Fprintf(&b, "Its prompt has %d tokens; ", f.prompt)
	if f.cached > 0 {
		fmt.Fprintf(&b, "%d of them were cached here from an earlier request, which saved %s of the %s that computing all of it takes. ", f.cached, millis(saved), millis(whole))
	} else {
		fmt.Fprintf(&b, "none of them were cached here, so all of it was computed, in %s. ", millis(whole))
	}
	if f.running+f.waiting == 0 {
		b.WriteString("The worker was idle.")
	} else {
		fmt.Fprintf(&b, "Requests beside it: %d running, %d waiting.", f.running, f.waiting)
	}
	return b.String()
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
