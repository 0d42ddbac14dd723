package tokenizer

import (
	"math"
	"testing"
)

// The bits are those that the library reads.
func TestScoresAreReadToTheLibrarysLastBit(t *testing.T) {
	for text, want := range map[string]uint64{
		"-6838539921574939.1574702":                 0xc3384b9da6cecc1c,
		"-0.00062368308406157965":                   0xbf446fd5397c8819,
		"-12.148759925705207":                       0xc0284c2a42cfb7f1,
		"-4198878367200394.744020906463":            0xc32dd5b71b106916,
		"-32580007e93":                              0xd4cdca73d1d27180,
		"-0.00095799638158769013":                   0xbf4f6441907624d6,
		"3.93599686377914e-11":                      0x3dc5a36c521af408,
		"-0.00069334078207170746":                   0xbf46b829fdf31747,
		"-65479012e-291":                            0x8523794310f1fd28,
		"2.6633056045725956e-07":                    0x3e91df8631354ac9,
		"-3415285e-311":                             0x80b7fba267e9ec9b,
		"-29364293e150":                             0xe0a11c2d94b7a11c,
		"5.5645432265243346e-15":                    0x3cf90f7b46ce82ed,
		"-99743456e20":                              0xc5c01d4aeb374dcb,
		"-659924.146140573989704512664765":          0xc12423a84ad2eff4,
		"-362541207209124.2057076621250219":         0xc2f49bab3df44a43,
		"-254334192883466391.621563980413763671302": 0xc38c3c9ccea87005,
		"-2.6872848822480244":                       0xc0057f8f376252e5,
		"-5.101":                                    0xc014676c8b439581,
		"49543508.709194094":                        0x41879fcaa5ac6df4,
	} {
		got, err := parseScore(text)
		if err != nil || math.Float64bits(got) != want {
			t.Errorf("%s: %016x, want %016x (%v)", text, math.Float64bits(got), want, err)
		}
	}
	for _, text := range []string{"", "-", "1e", "1.2.3", "--1", "1e999", "+", "e5"} {
		if _, err := parseScore(text); err == nil {
			t.Errorf("%q is a score", text)
		}
	}
}
