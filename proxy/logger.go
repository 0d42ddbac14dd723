package proxy

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// Logger writes to out what the configuration wants to be told: JSON lines, or text, in colour on a terminal.
func (c Config) Logger(out io.Writer) zerolog.Logger {
	level, err := zerolog.ParseLevel(c.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	if !c.LogJSON {
		file, ok := out.(*os.File)
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.DateTime, NoColor: !ok || !isTerminal(file)}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
