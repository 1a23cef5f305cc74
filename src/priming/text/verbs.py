"""Verbs of English: the infinitive of a participle."""

from __future__ import annotations

import re

_IRREGULAR = {
    participle: verb
    for verb, participles in {
        "write": "wrote written", "run": "ran run", "put": "put", "set": "set", "read": "read", "keep": "kept",
        "make": "made", "take": "took taken", "give": "gave given", "do": "did done", "go": "went gone",
        "choose": "chose chosen", "build": "built", "send": "sent", "tell": "told", "catch": "caught",
        "throw": "threw thrown", "leave": "left", "begin": "began begun", "hide": "hid hidden", "split": "split",
        "let": "let", "cut": "cut", "find": "found", "show": "showed shown", "draw": "drew drawn", "get": "got",
        "have": "had", "bring": "brought", "spell": "spelt", "rewrite": "rewrote rewritten", "reset": "reset",
    }.items()
    for participle in participles.split()
}  # fmt: skip
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_MUTE = re.compile(
    r"(?:[vcz]|[aeiourn]s|[nrd]g|[bdgpt]l|[^aeiou]at|[iue]at|let|writ|nam|tim|ut|ur|ir|[^e]or|(?:cl|sh|[bd]|comp)ar|quot|[iuo]d|[^aeiou][aiy]p|ib"
    r"|(?:def|comb|ref|eng)in|[^aeo]il|ul|cach|ak|ik|ag)$"
)
"""Stems of verbs that end in a mute e: "delet", "handl", "releas"."""


def is_participle(word: str) -> bool:
    """Whether a word has the form of a participle: "used", "written", and not "access".

    >>> is_participle("used"), is_participle("written"), is_participle("access")
    (True, True, False)
    """
    plain = word.lower()
    return plain in _IRREGULAR or (plain.endswith("ed") and len(plain) > 3)


def infinitive(verb: str) -> str:
    """A verb without the ending of its participle: "used" → "use".

    >>> [infinitive(verb) for verb in ("used", "logged", "pushed", "written", "copied", "deleted", "opened")]
    ['use', 'log', 'push', 'write', 'copy', 'delete', 'open']
    """
    plain = verb.lower()
    if not is_participle(plain) or plain in _IRREGULAR:
        return _IRREGULAR.get(plain, plain)
    stem = plain[:-2]
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    if stem != "add" and _DOUBLED.search(stem):
        return stem[:-1]
    return f"{stem}e" if _MUTE.search(stem) else stem
