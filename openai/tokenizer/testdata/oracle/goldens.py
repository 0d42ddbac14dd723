"""What the library gives for our corpus. Usage: goldens.py DIRECTORY [SEED COUNT]: for every tokenizer under DIRECTORY/zoo
and DIRECTORY/mini a file in DIRECTORY/goldens, and the corpus itself.

A line: i, the text; n and ids (h, a hash, for long ones); sp and sf, the special tokens before and after; dec, where decoding
gives another text; skip, where decoding without special tokens gives another one than that."""

import gzip
import hashlib
import json
import pathlib
import struct
import sys
from tokenizers import Tokenizer
import corpus


def digest(raw):
    return hashlib.sha256(raw).hexdigest()[:16]


def text_or_hash(text):
    return text if len(text) <= 80 else {"h": digest(text.encode())}


def line(t, i, text):
    ids = t.encode(text, add_special_tokens=False).ids
    whole = t.encode(text, add_special_tokens=True).ids
    front = next((k for k in range(len(whole) - len(ids) + 1) if whole[k : k + len(ids)] == ids), None)
    out = {"i": i, "n": len(ids)}
    if len(ids) <= 60:
        out["ids"] = ids
    else:
        out["h"] = digest(b"".join(struct.pack("<I", x) for x in ids))
    if len(whole) > len(ids):
        out["sp"], out["sf"] = whole[:front], whole[front + len(ids) :]
    dec, skip = t.decode(ids, skip_special_tokens=False), t.decode(whole, skip_special_tokens=True)
    if dec != text:
        out["dec"] = text_or_hash(dec)
    if skip != dec:
        out["skip"] = text_or_hash(skip)
    return out


def write(path, lines):
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        for value in lines:
            z.write((json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode())


def main(directory, seed="5", count="250"):
    root = pathlib.Path(directory)
    texts = corpus.texts(int(seed), int(count))
    write(root / "corpus.jsonl.gz", ({"i": i, "text": t} for i, t in enumerate(texts)))
    for path in sorted(root.glob("zoo/*.gz")) + sorted(root.glob("mini/*.gz")):
        t = Tokenizer.from_str(gzip.open(path).read().decode())
        name = path.name.removesuffix(".tokenizer.json.gz")
        write(root / "goldens" / f"{name}.jsonl.gz", (line(t, i, text) for i, text in enumerate(texts)))


main(*sys.argv[1:])
