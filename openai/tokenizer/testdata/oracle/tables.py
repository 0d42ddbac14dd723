"""Writes unicode_tables.go: the character classes, decompositions and lower-case mappings that Hugging Face's
tokenizers uses, asked from the library itself, code point by code point. Run by go generate."""

import sys
import unicodedata
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
SCRIPTS = """Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul
Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya Sinhala Tamil Telugu Thaana Thai
Tibetan""".split()


def ranges(members):
    out = []
    for c in sorted(members):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def isolated(pre):
    """Code points that a pre-tokenizer with behaviour isolated cuts out, asked in blocks with a letter between."""
    found = set()
    for start in range(0, len(POINTS), 4096):
        block = POINTS[start : start + 4096]
        for piece, (a, b) in pre.pre_tokenize_str("".join(map(chr, block))):
            found.update(block[a:b]) if len(piece) and b - a == len(piece) else None
    return found


def matching(regex):
    """Code points that a regular expression matches: they are replaced by nothing."""
    norm = normalizers.Replace(Regex(regex), "")
    found = set()
    for start in range(0, len(POINTS), 256):
        block = POINTS[start : start + 256]
        left = set(norm.normalize_str("".join(map(chr, block))))
        found.update(c for c in block if chr(c) not in left)
    return found


def dropped(norm):
    return {c for c in POINTS if norm.normalize_str("x" + chr(c) + "x") == "xx"}


def punctuation():
    pre = pre_tokenizers.Punctuation(behavior="removed")
    return {c for c in POINTS if [p for p, _ in pre.pre_tokenize_str(chr(c))] == []}


def rust_word():
    pre = pre_tokenizers.Whitespace()
    return {c for c in POINTS if [p for p, _ in pre.pre_tokenize_str("a" + chr(c))] == ["a" + chr(c)]}


def numeric():
    pre = pre_tokenizers.Digits(individual_digits=True)
    return {c for c in POINTS if len(pre.pre_tokenize_str("a" + chr(c))) == 2}


def bert(text):
    return normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False).normalize_str(text)


def charsmap(text):
    """A precompiled charsmap of one entry, text, which becomes "B": a double array with a node for each of its bytes."""
    import struct

    units, at = [0] * 1024, 0
    for k, byte in enumerate(text.encode(), 1):
        units[at] |= (at ^ 256 * k % 1024) << 10
        at = 256 * k % 1024 ^ byte
        units[at] = byte
    units[at] |= (at ^ 1000) << 10 | 1 << 8
    units[1000] = 1 << 31
    trie = struct.pack("<1024I", *units)
    return normalizers.Precompiled(struct.pack("<I", len(trie)) + trie + b"B\0")


def extending():
    """Code points that continue a grapheme: a charsmap that turns "a" into "B" then swallows them."""
    norm = charsmap("a")
    assert norm.normalize_str("cat") == "cBt", norm.normalize_str("cat")
    return {c for c in POINTS if norm.normalize_str("a" + chr(c)) == "B"}


def prepending():
    """Code points that the next character continues: the "a" after them is then no grapheme of its own."""
    norm = charsmap("a")
    return {c for c in POINTS if c != 97 and norm.normalize_str(chr(c) + "a\u0301") != chr(c) + "B"}


def controls():
    """Code points that nothing continues. Only graphemes of less than six bytes matter, so the first plane will do."""
    return {c for c in POINTS if 0 < c < 0x10000 and charsmap(chr(c)).normalize_str(chr(c) + "\u0301") != "B"}


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def encode_ranges(rs):
    out, last = b"", 0
    for a, b in rs:
        out += varint(a - last) + varint(b - a)
        last = b
    return out


def encode_pairs(pairs):
    """Entries (code point, text): distance from the last code point, length, bytes."""
    out, last = b"", 0
    for c, text in sorted(pairs):
        raw = text.encode()
        out += varint(c - last) + varint(len(raw)) + raw
        last = c
    return out


def quote(raw):
    text = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else "\\x%02x" % b for b in raw)
    lines, line = [], ""
    while text:
        cut = 108
        while cut < len(text) and any(text[k : k + 2] == "\\x" for k in range(max(cut - 3, 0), cut)):
            cut -= 1
        lines.append('"' + text[:cut] + '"')
        text = text[cut:]
    return " +\n\t\t".join(lines) if lines else '""'


def main(path):
    sets = {name: matching(r"\p{%s}" % name) for name in CATEGORIES + SCRIPTS}
    sets.update(
        space=matching(r"\s"),
        word=matching(r"\w"),
        digit=matching(r"\d"),
        alpha=matching(r"[[:alpha:]]"),
        punct=matching(r"[[:punct:]]"),
        rustword=rust_word(),
        rustpunct=punctuation(),
        rustnumeric=numeric(),
        accent=dropped(normalizers.StripAccents()),
        bertaccent=dropped(normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)),
        bertcontrol={c for c in POINTS if bert("x" + chr(c) + "x") == "xx"},
        bertspace={c for c in POINTS if bert("x" + chr(c) + "x") == "x x"},
        bertcjk={c for c in POINTS if normalizers.BertNormalizer(False, True, False, False).normalize_str(chr(c)) == " " + chr(c) + " "},
        nmtcontrol=dropped(normalizers.Nmt()),
        nmtspace={c for c in POINTS if c != 32 and normalizers.Nmt().normalize_str("x" + chr(c) + "x") == "x x"},
        extend=extending(),
        prepend=prepending(),
        control=controls(),
    )
    hangul = range(0xAC00, 0xD7A4)
    nfd, nfkd, nfc, lower = normalizers.NFD(), normalizers.NFKD(), normalizers.NFC(), normalizers.Lowercase()
    canon = [(c, nfd.normalize_str(chr(c))) for c in POINTS if c not in hangul]
    canon = [(c, t) for c, t in canon if t != chr(c)]
    known = dict(canon)
    compat = [(c, nfkd.normalize_str(chr(c))) for c in POINTS if c not in hangul]
    compat = [(c, t) for c, t in compat if t != known.get(c, chr(c))]
    low = [(c, lower.normalize_str(chr(c))) for c in POINTS]
    low = [(c, t) for c, t in low if t != chr(c)]
    # A mark has a class when it is sorted before or after a known one.
    classes = []
    for c in POINTS:
        ccc = unicodedata.combining(chr(c))
        if ccc and (nfd.normalize_str("\u0345" + chr(c)) != "\u0345" + chr(c) or nfd.normalize_str(chr(c) + "\u0334") != chr(c) + "\u0334" or c in (0x0345, 0x334)):
            classes.append((c, chr(ccc)))
        elif ccc in (1, 240):
            classes.append((c, chr(ccc)))
    # Primary composites: those whose decomposition is composed again.
    pairs = []
    for c, text in canon:
        if nfc.normalize_str(text) == chr(c):
            head = text[:-1] if len(text) == 2 else nfc.normalize_str(text[:-1])
            assert len(head) == 1, (hex(c), text)
            pairs.append((c, head + text[-1]))
    with open(path, "w") as out:
        out.write("// Code generated by testdata/oracle/tables.py; DO NOT EDIT.\n\npackage tokenizer\n\n")
        out.write("// classRanges holds the ranges of each class as varints: distance from the last range's end, length less one.\n")
        out.write("var classRanges = map[string]string{\n")
        for name in sets:
            out.write('\t"%s": %s,\n' % (name, quote(encode_ranges(ranges(sets[name])))))
        out.write("}\n\n// Entries of the tables below: distance from the last code point, length of the text, the text.\nconst (\n")
        for name, pairs_ in (("canonicalTable", canon), ("compatTable", compat), ("composeTable", pairs), ("combiningTable", classes), ("lowerTable", low)):
            out.write("\t%s = %s\n\n" % (name, quote(encode_pairs(pairs_))))
        out.write(")\n")
    print({k: len(v) for k, v in sets.items()}, len(canon), len(compat), len(pairs), len(classes), len(low))


main(sys.argv[1])
