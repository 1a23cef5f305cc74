"""What a commit message says: its text, and apart from it the lines and numbers that only machines read."""

from __future__ import annotations

import re

from priming.config.values import dataclass

_TRAILER = re.compile(
    r"^(?:[\w-]+-by|Cc|Change-Id|Reviewed-on|PR-URL|Pull-Request-URL|Auto-Submit|Commit-Queue|Tested|[\w-]+-RevId"
    r"|git-svn-id|Bazaar-Id|HG[\w ]{0,40}|cr-[\w-]+|reviewed-[\w-]+|see merge request)(?:: *| +(?=\S+!\d))(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that a tool or a habit adds: who signed, wrote and reviewed, and ids of systems for review."""
_ISSUE = r"(?:(?:[\w.-]+/[\w.-]+)?#|gh-)\d+"
_CLOSING = re.compile(
    r"(?<=\n)(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|references|see)(?: issues?)?:? +"
    rf"{_ISSUE}(?:(?:,? and|,|,? (?:fixes|closes|resolves))? +{_ISSUE})*[.]?[ \t]*(?=\n|\Z)",
    re.IGNORECASE,
)
"""A line after the first that only closes issues or refers to them."""
_ADDRESS = re.compile(r"(?:(?<! ) +)?<[^<>\s@]*@[^<>\s]*>")
_NUMBER = re.compile(
    r"(?:(?<![ \t])[ \t]+)?\((?:PR |GH-|gh-|pull )?([#!]?\d+)\)(?=[ \t]*$|[ \t]*\()", re.MULTILINE
)
"""The number of a pull request in parentheses at the end of a line, as platforms add it."""
_MERGED = re.compile(r"\AMerge (?:pull request|PR) ([#!]\d+)(?: from (\S+))?[ \t]*\n*")
_RULE = re.compile(r"^[-*=_]{3,}[ \t]*$\n?(?=\s*\Z)", re.MULTILINE)
_BLANK = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A message: the text to remember, the numbers of its pull requests, and its trailers without addresses."""

    text: str
    pulls: tuple[str, ...] = ()
    trailers: tuple[str, ...] = ()


def read_message(message: str) -> CommitMessage:
    r"""Take a message apart.

    >>> read_message("Retry (#12)\n\nThe pool was full.\n\nSigned-off-by: Ada <ada@example.org>")
    CommitMessage(text='Retry\n\nThe pool was full.', pulls=('#12',), trailers=('Signed-off-by: Ada',))
    >>> read_message("Retry\n\nFixes #14, closes #15.").text
    'Retry'
    >>> read_message("Merge pull request #7 from ada/retries\n\nRetry when the pool is full").text
    'Retry when the pool is full'
    """
    text = message.replace("\r\n", "\n").replace("\r", "\n").strip()
    pulls: dict[str, None] = {}
    merged = _MERGED.match(text)
    if merged is not None:
        pulls[merged[1]] = None
        text = text[merged.end() :] or f"Merge {merged[2] or 'a pull request'}"
    lines = [*_TRAILER.finditer(text), *_CLOSING.finditer(text)]
    trailers = tuple(" ".join(_ADDRESS.sub("", line[0]).split()) for line in lines)
    text = _CLOSING.sub("", _TRAILER.sub("", text))
    for number in _NUMBER.finditer(text):
        pulls[number[1] if number[1][0] in "#!" else f"#{number[1]}"] = None
    text = _NUMBER.sub("", text)
    text = _BLANK.sub("\n\n", _RULE.sub("", text)).strip()
    return CommitMessage(text, tuple(pulls), tuple(dict.fromkeys(trailers)))
