"""The library's speed, on one thread. Usage: bench.py TOKENIZER_JSON SECONDS, with a list of texts in JSON on each line of
input; a line out holds the bytes a second of encoding (the faster of its two ways) and of decoding, best of all passes, by processor time."""

import json
import os
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import Tokenizer

t = Tokenizer.from_file(sys.argv[1])
t.no_truncation()
t.no_padding()
seconds = float(sys.argv[2])


def best(work, size):
    top, end = 0.0, time.perf_counter() + seconds
    while True:
        start = time.process_time()
        work()
        top = max(top, size / (time.process_time() - start))
        if time.perf_counter() > end:
            return top


for line in sys.stdin:
    texts = json.loads(line)
    size = sum(len(text.encode()) for text in texts)
    ids = [t.encode(text, add_special_tokens=False).ids for text in texts]
    one = best(lambda: [t.encode(text, add_special_tokens=False) for text in texts], size)
    batch = best(lambda: t.encode_batch_fast(texts, add_special_tokens=False), size)
    decode = best(lambda: [t.decode(x, skip_special_tokens=False) for x in ids], size)
    print(json.dumps({"encode": one, "batch": batch, "decode": decode}), flush=True)
