"""A property-based client against what /openapi.json says: no 5xx, and no answer that the document does not tell of.
Usage: openapi.py PATH_TO_SCHEMATHESIS"""
import json, pathlib, subprocess, sys, tempfile

from running import gateway, get


def about_demo(node):
    """The document with the one model that is there, so that more than refusals are tried."""
    if isinstance(node, list):
        return [about_demo(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: about_demo(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node["properties"].get("model", {}).get("type") in ("string", ["string", "null"]):
        node["properties"]["model"] = {"type": "string", "enum": ["demo"]}
    return node


with gateway("--demo", "--log-level", "warn") as (base, _), tempfile.TemporaryDirectory() as folder:
    document = pathlib.Path(folder, "openapi.json")
    document.write_text(json.dumps(about_demo(json.loads(get(base + "/openapi.json")))))
    subprocess.run([sys.argv[1], "run", document, "--url", base, "--seed", "1", "--max-examples", "30", "--workers", "2",
                    "--request-timeout", "20", "--suppress-health-check", "all", "--generation-database", "none", "--warnings", "off",
                    "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"],
                   check=True, cwd=folder)
