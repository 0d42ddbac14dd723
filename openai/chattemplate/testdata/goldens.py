"""Writes expressions.json: what Python's jinja2, set up as transformers does, makes of every template in expressions.txt.

    pip install jinja2==3.1.6 && python goldens.py

A template a line, as a JSON string. A golden is {"t": template, "ok": text} or {"t": template, "err": exception}.
"""
import copy, datetime, json, pathlib
import jinja2, jinja2.ext, jinja2.sandbox

HERE = pathlib.Path(__file__).parent
NOW = datetime.datetime(2025, 7, 26, 13, 4, 5)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals.update(raise_exception=raise_exception, strftime_now=NOW.strftime)
    return env


def golden(template, variables):
    try:
        return {"t": template, "ok": environment().from_string(template).render(**copy.deepcopy(variables))}
    except Exception as x:
        return {"t": template, "err": f"{type(x).__name__}: {x}"[:160]}


if __name__ == "__main__":
    variables = json.loads((HERE / "variables.json").read_text())
    lines = (HERE / "expressions.txt").read_text().split("\n")[:-1]
    cases = [golden(json.loads(line), variables) for line in lines]
    with open(HERE / "expressions.json", "w") as out:
        out.write('{"ctx": ' + json.dumps(variables, ensure_ascii=False) + ',\n"cases": [\n')
        out.write(",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]}\n")
