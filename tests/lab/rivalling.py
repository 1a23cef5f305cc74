"""Rivals made for the tests: folders with an adapter of the standard library, in an environment without packages."""

from __future__ import annotations

import json

LOOP = """
import json, sys
memories = []
for line in sys.stdin:
    asked = json.loads(line)
    {before}
    if asked["op"] == "hello":
        said = {{"ok": True, "versions": {{"toy": "1.2"}}}}
    elif asked["op"] == "load":
        memories = asked["memories"]
        said = {{"ok": True}}
    elif asked["op"] == "close":
        break
    else:
        said = {search}
    print(json.dumps(said), flush=True)
"""
COMMON_WORDS = """{
            "ok": True, "keys": [one["key"] for one in sorted(memories, key=lambda one: -len(
                set(asked["text"].lower().split()) & set(f"{one['heading']}: {one['text']}".lower().split())
            ))][: asked["limit"]]}"""


def rival(folder, name, *, before="pass", search=COMMON_WORDS, requirements="", vectors=False, adapter=None):
    """Make a rival: by default one that counts words in common."""
    home = folder / name
    home.mkdir(parents=True)
    code = LOOP.format(before=before, search=search) if adapter is None else adapter
    (home / "adapter.py").write_text(code, "utf-8")
    (home / "requirements.txt").write_text(requirements, "utf-8")
    about = {"name": name, "what": "A toy.", "url": "https://example.org", "vectors": vectors}
    (home / "about.json").write_text(json.dumps(about), "utf-8")
    return home
