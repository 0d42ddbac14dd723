"""The oracle: Hugging Face's tokenizers behind a pipe. Usage: serve.py TOKENIZER_JSON
A line in is {"text": ...} or {"ids": [...]}; a line out answers it with the ids (plain and with special tokens) and the
texts that these decode to (whole and without special tokens)."""

import json
import sys
from tokenizers import Tokenizer

t = Tokenizer.from_file(sys.argv[1])
t.no_truncation()
t.no_padding()
for line in sys.stdin:
    q = json.loads(line)
    a = {}
    if "text" in q:
        a["ids"] = t.encode(q["text"], add_special_tokens=False).ids
        a["special"] = t.encode(q["text"], add_special_tokens=True).ids
    ids = q.get("ids", a.get("ids"))
    a["whole"] = t.decode(ids, skip_special_tokens=False)
    a["skipped"] = t.decode(a.get("special", ids), skip_special_tokens=True)
    sys.stdout.write(json.dumps(a) + "\n")
    sys.stdout.flush()
