"""Text of our own: what the small tokenizers are trained on, and what they are compared on."""

import random

BASE = """The gateway keeps a table of workers. Each worker holds blocks of keys and values; a prompt that begins like an
earlier one can reuse them. We count tokens, not characters, because engines count tokens. It's easy to be wrong: don't
guess, measure. They've said we'll see; I'm sure you'd agree.
func main() { for i := 0; i < 10; i++ { fmt.Println("line", i) } }
Il était une fois, près d'une rivière, un moulin où l'on gardait des mots. Straße, Größe, Übermut; año, niño; søster.
Жили-были старик со старухой у самого синего моря. Καλημέρα κόσμε. שלום עולם. مرحبا بالعالم ١٢٣.
今天天气很好，我们去河边散步。東京の夜は静かです。안녕하세요 세계. नमस्ते दुनिया। สวัสดีชาวโลก
x = 3.14159 * r ** 2  # area\tand\ttabs
if (a != b && c >= 0) return { "name": null, "value": [1, 2, 345, 6789] };
""".split("\n")
WORDS = """the of and a to in is you that it he was for on are as with his they at be this have from or one had by word but not
what all were we when your can said there use an each which she do how their if will up other about out many then them
these so some her would make like him into time has look two more write go see number no way could people my than first
water been call who oil its now find long down day did get come made may part token worker engine prefix cache block
decode prefill schedule stream answer request queue""".split()
ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCXYZ'sStTdDmMrReEvVlL", " \t\n\r\x0b\x0c\u0085\u00a0\u2003\u2028\u3000", "0123456789٣४៥²½Ⅷ", ".,;:!?/\\|()[]{}<>@#$%^&*-_=+`~\"'…。，、।۔",
    "éèüñçåßſıİǅʰªºĀžŽ", "e\u0301a\u0308\u0323n\u0303\u0345\u0334\u200d\ufe0f\u20dd\u093f\u0902", "日本語中文漢字龥々〇ぁァー가각힣각", "😀👩‍👩‍👧‍👦🇩🇪🏽✅€₿∑→", "\x00\x01\x07\x1b\x7f\u0080\u200b\u200e\ufeff\u00ad\ufffd\ue000\U0010ffff",
    "אבגדהמםабвгЖЯαβγΩ١٢٣كلم", "\U00010d40\u1c89\U0001e900\U00010400\u2c00\ua7cb\U00011938\ufb01\uff21\u32ff\u2126\u212b", "▁Ġ Ċ<0x41></w>##", "qQeTthE endSTOPwordandéQuick Fox",
]
MARKS = ["<|end|>", "<s>", "</s>", "<unk>", "<L>", "<R>", "<B>", "<N>", "word", "Quick Fox", "STOP", "the end", "<|end|>x", " pad ", "[MASK]", "[UNK]", "and", "é"]


def training():
    r = random.Random(4)
    for _ in range(400):
        yield " ".join(r.choice(WORDS) for _ in range(r.randrange(3, 30))).capitalize() + r.choice(".!?\n")
    for line in BASE * 6:
        yield line + "\n"


def mixed(r):
    """A text of pieces from a few alphabets, words, lines and special tokens."""
    out = []
    for _ in range(r.randrange(1, 12)):
        kind = r.random()
        if kind < 0.25:
            out.append(r.choice([" ", "", "  ", "\n"]) + r.choice(WORDS))
        elif kind < 0.32:
            out.append(r.choice([" ", ""]) + r.choice(MARKS) + r.choice(["", " ", "  "]))
        elif kind < 0.4:
            line = r.choice(BASE)
            a = r.randrange(len(line) + 1)
            out.append(line[a : a + r.randrange(30)])
        else:
            alphabet = r.choice(ALPHABETS)
            out.append("".join(r.choice(alphabet) for _ in range(r.choice([1, 1, 2, 3, 5, 9]))))
    return "".join(out)


def texts(seed=5, count=600):
    r = random.Random(seed)
    return ["", " ", "  ", "a", "\n"] + BASE + [mixed(r) for _ in range(count)] + ["a" * 700, " " * 300, "ab" * 400 + "1", "1234567" * 40, "日本" * 100]
