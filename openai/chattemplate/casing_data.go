package chattemplate

// What Go's unicode package lacks: mappings of one character to several, and numeric types. Unicode 14 as in Python 3.11.
const (
	// A character, its upper case and its title case.
	fullCasing = `
ß SS Ss ŉ ʼN ʼN ǰ J̌ J̌ ΐ Ϊ́ Ϊ́ ΰ Ϋ́ Ϋ́ և ԵՒ Եւ ẖ H̱ H̱ ẗ T̈ T̈ ẘ W̊ W̊ ẙ Y̊ Y̊ ẚ Aʾ Aʾ ὐ Υ̓ Υ̓ ὒ Υ̓̀ Υ̓̀ ὔ Υ̓́
Υ̓́ ὖ Υ̓͂ Υ̓͂ ᾀ ἈΙ ᾈ ᾁ ἉΙ ᾉ ᾂ ἊΙ ᾊ ᾃ ἋΙ ᾋ ᾄ ἌΙ ᾌ ᾅ ἍΙ ᾍ ᾆ ἎΙ ᾎ ᾇ ἏΙ ᾏ ᾈ ἈΙ ᾈ ᾉ ἉΙ ᾉ ᾊ ἊΙ ᾊ ᾋ ἋΙ ᾋ ᾌ ἌΙ ᾌ ᾍ ἍΙ ᾍ ᾎ ἎΙ ᾎ
ᾏ ἏΙ ᾏ ᾐ ἨΙ ᾘ ᾑ ἩΙ ᾙ ᾒ ἪΙ ᾚ ᾓ ἫΙ ᾛ ᾔ ἬΙ ᾜ ᾕ ἭΙ ᾝ ᾖ ἮΙ ᾞ ᾗ ἯΙ ᾟ ᾘ ἨΙ ᾘ ᾙ ἩΙ ᾙ ᾚ ἪΙ ᾚ ᾛ ἫΙ ᾛ ᾜ ἬΙ ᾜ ᾝ ἭΙ ᾝ ᾞ ἮΙ ᾞ ᾟ ἯΙ ᾟ
ᾠ ὨΙ ᾨ ᾡ ὩΙ ᾩ ᾢ ὪΙ ᾪ ᾣ ὫΙ ᾫ ᾤ ὬΙ ᾬ ᾥ ὭΙ ᾭ ᾦ ὮΙ ᾮ ᾧ ὯΙ ᾯ ᾨ ὨΙ ᾨ ᾩ ὩΙ ᾩ ᾪ ὪΙ ᾪ ᾫ ὫΙ ᾫ ᾬ ὬΙ ᾬ ᾭ ὭΙ ᾭ ᾮ ὮΙ ᾮ ᾯ ὯΙ ᾯ ᾲ ᾺΙ
Ὰͅ ᾳ ΑΙ ᾼ ᾴ ΆΙ Άͅ ᾶ Α͂ Α͂ ᾷ Α͂Ι ᾼ͂ ᾼ ΑΙ ᾼ ῂ ῊΙ Ὴͅ ῃ ΗΙ ῌ ῄ ΉΙ Ήͅ ῆ Η͂ Η͂ ῇ Η͂Ι ῌ͂ ῌ ΗΙ ῌ ῒ Ϊ̀ Ϊ̀ ΐ Ϊ́ Ϊ́ ῖ Ι͂ Ι͂
ῗ Ϊ͂ Ϊ͂ ῢ Ϋ̀ Ϋ̀ ΰ Ϋ́ Ϋ́ ῤ Ρ̓ Ρ̓ ῦ Υ͂ Υ͂ ῧ Ϋ͂ Ϋ͂ ῲ ῺΙ Ὼͅ ῳ ΩΙ ῼ ῴ ΏΙ Ώͅ ῶ Ω͂ Ω͂ ῷ Ω͂Ι ῼ͂ ῼ ΩΙ ῼ ﬀ FF Ff ﬁ FI
Fi ﬂ FL Fl ﬃ FFI Ffi ﬄ FFL Ffl ﬅ ST St ﬆ ST St ﬓ ՄՆ Մն ﬔ ՄԵ Մե ﬕ ՄԻ Մի ﬖ ՎՆ Վն ﬗ ՄԽ Մխ
`

	// A character and its case folding, where that is not the lower case. Cherokee, which folds to upper case, is left
	// to foldRune.
	caseFolding = `
µ μ ß ss ŉ ʼn ſ s ǰ ǰ ͅ ι ΐ ΐ ΰ ΰ ς σ ϐ β ϑ θ ϕ φ ϖ π ϰ κ ϱ ρ ϵ ε և եւ ᲀ в ᲁ д ᲂ о ᲃ с ᲄ т ᲅ т ᲆ ъ ᲇ ѣ ᲈ ꙋ ẖ ẖ ẗ
ẗ ẘ ẘ ẙ ẙ ẚ aʾ ẛ ṡ ẞ ss ὐ ὐ ὒ ὒ ὔ ὔ ὖ ὖ ᾀ ἀι ᾁ ἁι ᾂ ἂι ᾃ ἃι ᾄ ἄι ᾅ ἅι ᾆ ἆι ᾇ ἇι ᾈ ἀι ᾉ ἁι ᾊ ἂι ᾋ ἃι ᾌ ἄι ᾍ
ἅι ᾎ ἆι ᾏ ἇι ᾐ ἠι ᾑ ἡι ᾒ ἢι ᾓ ἣι ᾔ ἤι ᾕ ἥι ᾖ ἦι ᾗ ἧι ᾘ ἠι ᾙ ἡι ᾚ ἢι ᾛ ἣι ᾜ ἤι ᾝ ἥι ᾞ ἦι ᾟ ἧι ᾠ ὠι ᾡ ὡι ᾢ ὢι ᾣ ὣι ᾤ ὤι
ᾥ ὥι ᾦ ὦι ᾧ ὧι ᾨ ὠι ᾩ ὡι ᾪ ὢι ᾫ ὣι ᾬ ὤι ᾭ ὥι ᾮ ὦι ᾯ ὧι ᾲ ὰι ᾳ αι ᾴ άι ᾶ ᾶ ᾷ ᾶι ᾼ αι ι ι ῂ ὴι ῃ ηι ῄ ήι ῆ ῆ ῇ ῆι ῌ
ηι ῒ ῒ ΐ ΐ ῖ ῖ ῗ ῗ ῢ ῢ ΰ ΰ ῤ ῤ ῦ ῦ ῧ ῧ ῲ ὼι ῳ ωι ῴ ώι ῶ ῶ ῷ ῶι ῼ ωι ﬀ ff ﬁ fi ﬂ fl ﬃ ffi ﬄ ffl ﬅ st ﬆ
st ﬓ մն ﬔ մե ﬕ մի ﬖ վն ﬗ մխ
`

	// Digits that are not decimal, as ranges of hexadecimal code points.
	otherDigits = `
b2-b3 b9 1369-1371 19da 2070 2074-2079 2080-2089 2460-2468 2474-247c 2488-2490 24ea 24f5-24fd 24ff 2776-277e 2780-2788
278a-2792 10a40-10a43 10e60-10e68 11052-1105a 1f100-1f10a
`

	// Numeric letters, mostly CJK.
	numericLetters = `
3405 3483 382a 3b4d 4e00 4e03 4e07 4e09 4e5d 4e8c 4e94 4e96 4ebf-4ec0 4edf 4ee8 4f0d 4f70 5104 5146 5169 516b 516d
5341 5343-5345 534c 53c1-53c4 56db 58f1 58f9 5e7a 5efe-5eff 5f0c-5f0e 5f10 62fe 634c 67d2 6f06 7396 767e 8086 842c
8cae 8cb3 8d30 9621 9646 964c 9678 96f6 f96b f973 f978 f9b2 f9d1 f9d3 f9fd 20001 20064 200e2 20121 2092a 20983 2098c
2099c 20aea 20afd 20b19 22390 22998 23b1b 2626d 2f890
`
)
