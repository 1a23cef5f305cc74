"""What kind of rule a text is: a constraint, a procedure, a preference or a directive."""

from __future__ import annotations

import re
from typing import Literal

from priming.errors import ParamError
from priming.text.statements.reader import forbids, read

Rule = Literal["directive", "constraint", "preference", "procedure"]

_OBJECTION = re.compile(
    r"(?:(?:no|nope|nah|wrong|incorrect|not quite|hey|ugh|argh|oh|oops|hm+|well|wait|sorry"
    r"|ok(?:ay)?|actually|right|please|remember)(?:\s*[,.:;!]+\s+|\s+[–—-]+\s+)|(?:actually|please)\s+)+(?=\S+\s+\S)",
    re.IGNORECASE,
)
"""How somebody begins who objects to what was done: "No, …", "Wait: …"."""
_NUMBERED = re.compile(
    r"^\s*(?:step\s+)?\(?1[.):]\s.*^\s*(?:step\s+)?\(?2[.):]\s"
    r"|(?:^|\s)\(?1[.)]\s.*\s\(?2[.)]\s"
    r"|\bstep\s+(?:1|one)\b.*\bstep\s+(?:2|two)\b",
    re.MULTILINE | re.DOTALL,
)
_ORDERED = re.compile(
    r"(?:(?:^|[.;:,!?\n]\s*)first(?:ly)?\b|(?<!the )\bfirst\s*[,;:]|\bfirst, then\b)"
    r".*\b(?:then|next|afterwards?|finally|second(?:ly)?)\b",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_PREFERRING = re.compile(r"\b(?:prefer(?:s|red|ably)?|favou?r|better\s+to)\b", re.IGNORECASE)
_INSISTING = re.compile(r"\b(?:always|must|every\s+time)\b", re.IGNORECASE)
_WEIGHING = re.compile(r"\b(?:instead(?:\s+of)?|rather(?:\s+than)?)\b", re.IGNORECASE)
_READ = 2_000
"""Characters that are looked at: the beginning of a rule shows its kind."""


def without_objection(text: str) -> str:
    """Return a correction without how it begins when somebody objects; what follows is the rule.

    >>> without_objection("No, wait, send it at nine"), without_objection("No spaces in names")
    ('Send it at nine', 'No spaces in names')
    """
    match = _OBJECTION.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    return rest[0].upper() + rest[1:] if text[0].isupper() and rest[1:2].islower() else rest


def rule_kind_of(text: str) -> Rule:
    """Infer what kind of rule a text is.

    The first of these that holds:

    1. its first words are denied (never, must not, hands off, only admins may, …): a constraint
    2. steps are numbered ("1. … 2. …", "step 1 … step 2"): a procedure
    3. it forbids something anywhere: a constraint
    4. first …, then …: a procedure
    5. prefer, favour, better to: a preference
    6. always, must: a directive
    7. instead of, rather than: a preference
    8. anything else: a directive

    Parameters
    ----------
    text : one rule.

    Raises
    ------
    ParamError : no text.

    Notes
    -----
    floop looks for its words anywhere; here "never forget to …" is no prohibition, nor is what a condition denies:
    "if the tests do not pass" forbids nothing.

    Examples
    --------
    >>> texts = ["Hands off the lockfile", "Use pathlib instead of os.path", "Use pathlib"]
    >>> [rule_kind_of(text) for text in texts]
    ['constraint', 'preference', 'directive']
    """
    if not isinstance(text, str):
        raise ParamError("text", text, "must be a text")
    plain = text.strip()[:_READ]
    statement, denied = read(plain), forbids(plain)
    if denied and statement.words and statement.words[0].sign < 0:
        return "constraint"
    if _NUMBERED.search(plain.casefold()):
        return "procedure"
    if denied:
        return "constraint"
    if _ORDERED.search(plain):
        return "procedure"
    if _PREFERRING.search(plain):
        return "preference"
    return "preference" if _WEIGHING.search(plain) and not _INSISTING.search(plain) else "directive"
