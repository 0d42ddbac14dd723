"""Builds small tokenizers of every family from text of our own. Usage: zoo.py REPOSITORY DIRECTORY"""

import base64
import gzip
import json
import pathlib
import struct
import sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers as pre, processors, trainers

sys.argv, argv = sys.argv[:1] + ["/nonexistent", "/nonexistent"], sys.argv
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import corpus as own

SPECIAL = ["<unk>", "<s>", "</s>", "<|end|>"]
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
PATTERNS = {
    "seed": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+",
    "bailing": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    "exaone": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
    "bloom": " ?[^(\\s|[.,!?…。，、।۔،])]+",
    "lookbehind": r"(?<=[a-z])(?=[A-Z])|\p{L}+|\d+|[^\s\p{L}\d]+|\s+",
    "anchored": r"^\s+|\s+$|\b\w+\b|[\p{P}\p{S}]{1,4}?|\s",
    "hebrew": r"[\p{Hebrew}\p{Arabic}]+|\p{Lu}?\p{Ll}+|\p{^L}{2}|[[:alpha:]]",
}


def special(t, tokens=SPECIAL, **flags):
    t.add_special_tokens([AddedToken(s, special=True, normalized=False, **flags) for s in tokens])
    return t


def byte_level(pattern=None, normalizer=None, size=1200, **options):
    t = Tokenizer(models.BPE(**options))
    if normalizer:
        t.normalizer = normalizer
    stages = pattern if isinstance(pattern, list) else [pre.Split(Regex(pattern), "isolated")] if pattern else []
    t.pre_tokenizer = pre.Sequence(stages + [pre.ByteLevel(add_prefix_space=False, use_regex=not stages)])
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False)
    t.train_from_iterator(own.training(), trainer)
    return special(t)


def spm(prescheme, split=False, size=1500, strip=True, **options):
    """SentencePiece-style BPE with byte fallback; prescheme None uses the normalizers of Llama 2."""
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>", **options))
    if prescheme is None:
        t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    elif prescheme == "gemma":
        t.normalizer = normalizers.Replace(" ", "▁")
        t.pre_tokenizer = pre.Split(" ", "merged_with_previous")
    else:
        t.pre_tokenizer = pre.Metaspace(prepend_scheme=prescheme, split=split)
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    t.decoder = decoders.Sequence(steps + [decoders.Strip(" ", 1, 0)] * strip)
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre.Metaspace(prepend_scheme="always")
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]
    trained.train_from_iterator(own.training(), trainers.BpeTrainer(vocab_size=size, special_tokens=tokens, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    merges = [tuple(m) for m in model["merges"]]
    t.model = models.BPE(model["vocab"], merges, byte_fallback=True, fuse_unk=True, unk_token="<unk>", **options)
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return special(t, ["<unk>", "<s>", "</s>"])


def unigram(byte_fallback=False, normalizer=None, scheme="always", **flags):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizer or normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre.Metaspace(prepend_scheme=scheme)
    t.decoder = decoders.Metaspace(prepend_scheme=scheme)
    extra = ["<0x%02X>" % b for b in range(256)] if byte_fallback else []
    trainer = trainers.UnigramTrainer(vocab_size=1200, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>"] + extra, show_progress=False)
    t.train_from_iterator(own.training(), trainer)
    if byte_fallback:
        d = json.loads(t.to_str())
        d["model"]["byte_fallback"] = True
        d["added_tokens"] = []
        t = Tokenizer.from_str(json.dumps(d))
        t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme=scheme)])
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return special(t, ["<unk>", "<s>", "</s>"])


def wordpiece(lower):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=30))
    t.normalizer = normalizers.BertNormalizer(lowercase=lower)
    t.pre_tokenizer = pre.BertPreTokenizer()
    t.decoder = decoders.WordPiece(cleanup=lower)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(own.training(), trainers.WordPieceTrainer(vocab_size=1200, special_tokens=marks, show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return special(t, marks)


def wordlevel():
    t = Tokenizer(models.WordLevel(unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    t.pre_tokenizer = pre.Sequence([pre.Whitespace(), pre.Digits(), pre.Punctuation("contiguous")])
    t.train_from_iterator(own.training(), trainers.WordLevelTrainer(vocab_size=700, special_tokens=SPECIAL, show_progress=False))
    return special(t)


def affixed():
    """Characters with a mark for the end of a word, as CLIP has, and one for the inside."""
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", continuing_subword_prefix="##", fuse_unk=False))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre.Split(Regex(r"'s|'t|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"), "removed", invert=True)
    t.decoder = decoders.Sequence([decoders.WordPiece("##", cleanup=False), decoders.Replace("</w>", " ")])
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>"], end_of_word_suffix="</w>", continuing_subword_prefix="##", show_progress=False)
    t.train_from_iterator(own.training(), trainer)
    return special(t, ["<unk>", "</s>"])


def charsmap(table):
    """A precompiled charsmap for a mapping of texts: a double array, entries placed first fit."""
    units, used = [0] * 4096, [False] * 4096
    texts, offsets = b"", {}
    for value in table.values():
        if value not in offsets:
            offsets[value] = len(texts)
            texts += value.encode() + b"\0"
    tree = {}
    for key, value in table.items():
        at = tree
        for b in key.encode():
            at = at.setdefault(b, {})
        at[None] = offsets[value]
    used[0] = True

    def place(node, at, unit):
        labels = [0 if k is None else k for k in node]
        base = next(b for b in range(256, 3800) if not any(used[b ^ l] for l in labels))
        for l in labels:
            used[base ^ l] = True
        units[at] = unit | (at ^ base) << 10 | ((1 << 8) if None in node else 0)
        for k, child in node.items():
            if k is None:
                units[base] = 1 << 31 | child
            else:
                place(child, base ^ k, k)

    place(tree, 0, 0)
    trie = b"".join(struct.pack("<I", u) for u in units)
    return struct.pack("<I", len(trie)) + trie + texts


CHARS = {"\r": " ", "\n": " ", "\t": " ", "\u00a0": " ", "\u200b": "", "ﬁ": "fi", "Å": "A\u030a", "e\u0301": "é", "½": "1⁄2", "，": ",", "ｆ": "f", "ｏ": "o", "\u3000": " ", "…": "..."}


def zoo():
    for name, pattern in PATTERNS.items():
        yield name, byte_level(pattern)
    command = [pre.Split(Regex(r"\d{1,3}(?=(?:\d{3})*\b)"), "isolated")]
    yield "command", byte_level(command + [pre.Split(Regex(PATTERNS["seed"]), "isolated")])
    yield "digits", byte_level([pre.Digits(individual_digits=False), pre.Punctuation("merged_with_previous"), pre.Split(Regex(PATTERNS["bloom"]), "isolated")])
    for how in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        for invert in (False, True):
            if how != "removed" or invert:
                yield f"split_{how}{'_inverted' * invert}", byte_level([pre.Split(Regex(r"[aeiou.\s]"), how, invert=invert)], size=600)
    yield "gpt2", byte_level()
    yield "nfd_lower", byte_level(normalizer=normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase()]), size=800)
    yield "strip", byte_level(normalizer=normalizers.Sequence([normalizers.Strip(), normalizers.Nmt(), normalizers.Replace("the", "a")]), size=800)
    whole = json.loads(byte_level(PATTERNS["seed"], size=900).to_str())
    whole["model"]["ignore_merges"] = True
    whole["model"]["merges"] = whole["model"]["merges"][:200]
    yield "whole_words", Tokenizer.from_str(json.dumps(whole))
    yield "byte_normalizer", byte_normalizer()
    yield "llama2", spm(None)
    yield "gemma", spm("gemma", strip=False)
    yield "metaspace_first", spm("first")
    yield "metaspace_always", spm("always")
    yield "metaspace_never", spm("never", strip=False)
    yield "metaspace_split", spm("first", split=True)
    yield "unigram", unigram()
    yield "unigram_bytes", unigram(byte_fallback=True)
    yield "t5", unigram(normalizer=normalizers.Precompiled(charsmap(CHARS)))
    yield "xlnet_like", unigram(normalizer=normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip(left=True, right=True)]), scheme="first")
    yield "bert", wordpiece(True)
    yield "bert_cased", wordpiece(False)
    yield "words", wordlevel()
    yield "affixed", affixed()
    yield "added_flags", added_flags()
    yield "fixed_length", fixed_length()
    yield "clip", clip()
    yield "ctc", ctc()
    yield "bpe_decoder", bpe_decoder()
    steps = [decoders.ByteFallback(), decoders.Fuse(), decoders.Replace("▁", " "), decoders.Strip(" ", 1, 0)]
    yield "fused_replace", with_decoder(unigram(byte_fallback=True), decoders.Sequence(steps))
    steps = [decoders.Fuse(), decoders.Replace(Regex("▁+"), " "), decoders.Metaspace(prepend_scheme="first"), decoders.ByteFallback()]
    yield "fused_chain", with_decoder(spm("first"), decoders.Sequence(steps))


def byte_normalizer():
    t = byte_level(size=800)
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()])
    t.pre_tokenizer = pre.Split(Regex(r"Ġ?[A-Za-z]+|Ġ+|[^A-Za-zĠ]+"), "isolated")
    return t


def with_decoder(t, decoder):
    t.decoder = decoder
    return t


def clip():
    """Bytes as characters, the last of a word with a mark."""
    t = Tokenizer(models.BPE(unk_token="</s>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    words = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    t.pre_tokenizer = pre.Sequence([pre.Split(Regex(words), "removed", invert=True), pre.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<s>", "</s>"], initial_alphabet=pre.ByteLevel.alphabet(), end_of_word_suffix="</w>", show_progress=False)
    t.train_from_iterator(own.training(), trainer)
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    return special(t, ["<s>", "</s>"])


def ctc():
    marks = ["<pad>", "<unk>", "|"]
    t = Tokenizer(models.WordLevel({c: i for i, c in enumerate(marks + list("abcdefghijklmnopqrstuvwxyz.,!?'"))}, unk_token="<unk>"))
    t.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", "|")])
    t.pre_tokenizer = pre.Split(Regex("."), "isolated")
    t.decoder = decoders.CTC(pad_token="<pad>", word_delimiter_token="|", cleanup=True)
    return special(t, ["<pad>", "<unk>"])


def bpe_decoder():
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.pre_tokenizer = pre.BertPreTokenizer()
    t.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False)
    t.train_from_iterator(own.training(), trainer)
    return special(t, ["<unk>", "</s>"])


def fixed_length():
    t = byte_level(size=600)
    t.pre_tokenizer = pre.Sequence([pre.CharDelimiterSplit("e"), pre.FixedLength(length=5), pre.ByteLevel(add_prefix_space=True, use_regex=False)])
    return t


def added_flags():
    t = byte_level(PATTERNS["seed"], normalizer=normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace("q", "kw")]), size=700)
    t.add_tokens([
        AddedToken("<L>", lstrip=True, normalized=False), AddedToken("<R>", rstrip=True, normalized=False),
        AddedToken("<B>", lstrip=True, rstrip=True, normalized=False), AddedToken("word", single_word=True, normalized=False),
        AddedToken("Quick Fox", normalized=True), AddedToken("STOP", single_word=True, normalized=True), AddedToken("the end", lstrip=True, normalized=True),
        AddedToken("<|end|>x", normalized=False), AddedToken(" pad ", rstrip=True, normalized=False), AddedToken("é", normalized=False),
    ])
    t.add_special_tokens([AddedToken("<N>", normalized=True, special=True), AddedToken("and", special=True)])
    return t


def write(path, data):
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(data.encode())


def main(directory):
    out = pathlib.Path(directory)
    texts = own.texts()
    for name, t in zoo():
        saved = json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":"))
        write(out / "zoo" / f"{name}.tokenizer.json.gz", saved)
    print("written")


main(argv[1])
