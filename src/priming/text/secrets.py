"""Secrets in texts that nobody meant to keep: what stands for a password, and what only a machine would write."""

from __future__ import annotations

import re
from itertools import pairwise

HIDDEN = "[redacted]"
_NAME = (
    r"(?:pass(?:word|wort|wd|phrase|code)|pwd|secret|token|credential|authorization|bearer|cookie|contrase[nñ]a"
    r"|mot de passe|пароль|密码|密碼|パスワード"
    r"|(?:api|access|private|auth|signing|encryption|account)[ _-]?key|_key\b)"
)
_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^\s/@:]{0,200}:[^\s/@]{1,200}(?=@)",
    re.DOTALL,
)
_STATED = re.compile(
    rf"(?P<name>{_NAME}\w{{0,20}}[\"'`]{{0,2}}(?:\s*[:=]{{1,2}}>?\s*|\s+(?:is|ist|es|est|was|to)\s+|\s+)"
    r"(?:(?:bearer|basic|token)\s+)?[\"'`]{0,2})(?P<value>(?<=[\"'`])[^\"'`\n]{3,200}|[^\s\"'`,;]{3,200})",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[:=\"'`]|\b(?:is|ist|es|est|was|bearer|basic)\b|^(?:pass|pwd).*\bto\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w+/=.~-])[\w+/=.~-]{16,400}(?![\w+/=~-])")
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_RUN = re.compile(r"[A-Za-z0-9]+")
_SHORTEST, _CHANGES, _DIGITS = 16, 5, 10
"""Letters of the shortest run that may be random, how often its kinds change, and digits that no word has."""


def redacted(text: str) -> str:
    """Return a text without what may be a secret: better a word too much than a password.

    That is a private key; the name and password of a URL; what follows a word for a password or a key; a long run of
    letters and digits in which these alternate as in no word, path or commit; a number as long as that of a card.

    >>> redacted("The password is hunter2, see https://ann:pw@host/x")
    'The password is [redacted], see https://[redacted]@host/x'
    >>> redacted("use sk-proj-9fK2mQ7xZb41LpTr for src/priming/text/secrets.py")
    'use [redacted] for src/priming/text/secrets.py'
    """
    text = _STATED.sub(_without_value, _SECRETS.sub(HIDDEN, text))
    return _CARD.sub(HIDDEN, _WORD.sub(_word, text))


def _without_value(match: re.Match[str]) -> str:
    """A word for a password, without what follows it as its value; prose goes on with a plain word."""
    name, value = match["name"], match["value"]
    is_plain = value.strip(".!?)").isalpha() and not _SIGN.search(name)
    return match[0] if is_plain or value.startswith(HIDDEN[:5]) else f"{name}{HIDDEN}"


def _word(match: re.Match[str]) -> str:
    return HIDDEN if any(map(_is_random, re.split(r"[/.=]", match[0]))) else match[0]


def _is_random(word: str) -> bool:
    """Tell whether letters and digits, or capitals and small letters, alternate more often than in any word."""
    if len(word) < _SHORTEST or _COMMIT.fullmatch(word):
        return False
    kinds = [
        "".join("0" if c.isdigit() else "A" if c.isupper() else "a" for c in run)
        for run in _RUN.findall(word)
    ]
    changes = sum(a != b for kind in kinds for a, b in pairwise(kind))
    digits = sum(kind.count("0") for kind in kinds)
    return (changes >= _CHANGES and digits >= 2) or (digits > 0 and word.isupper()) or digits >= _DIGITS
