"""What kind of rule a text is, and whether two rules contradict each other.

The first test that holds decides: a prohibition at the beginning, numbered steps, a prohibition anywhere, first
and then, prefer, always or must, instead of; else a directive. English only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from priming.core.arguments.checks import check_number
from priming.core.similarity import tokens
from priming.core.when import scope
from priming.errors import ParamError

_CONFLICT = 0.6
"""The least overlap of words at which opposite rules conflict."""

Rule = Literal["directive", "constraint", "preference", "procedure"]

_OBJECTION = re.compile(
    r"(?:(?:no|nope|nah|wrong|incorrect|not quite|hey|ugh|argh|oh|oops|hm+|well|wait|sorry"
    r"|ok(?:ay)?|actually|right|please|remember)(?:\s*[,.:;!]+\s+|\s+[–—-]+\s+)|(?:actually|please)\s+)+(?=\S+\s+\S)",
    re.IGNORECASE,
)
"""How somebody begins who objects to what was done: "No, …", "Wait: …"."""
_CLAUSE = r"(?P<clause>^|[.;:,!?()\n—–-]\s{0,16}|\b(?:and|but|or|then|please|also)\s{1,16})"
_WE_DENY = (
    r"(?:i|we)\s+(?:(?:really|just|also)\s+)?(?:do\s+not|don't|dont)\s+(?:ever|want|wish|like|allow|accept|permit|tolerate|use|do)\b"
    r"|(?:you|we)\s+(?:cannot|can't|can\s+not)\b|let's\s+not\b"
    r"|(?:nobody|no[\s-]one)(?=\s+(?:may|must|should|shall|can|is\s+allowed|gets?|ever|but)\b)"
)
_BANNED = (
    r"(?:forbidden|prohibited|banned|disallowed|taboo|unacceptable|off[\s-]limits"
    r"|not\s+(?:allowed|permitted|ok|okay|fine|acceptable|welcome))"
)
_DENIAL = (
    r"(?:\bnever\b|\b(?:must|should|shall|may)(?:\s+not\b|n't\b)|\bmustnt\b|\bshouldnt\b"
    rf"|{_CLAUSE}(?:(?:do\s+not|don't|dont|avoid|refrain\s+from|forbid|prohibit|disallow|ban)\b"
    rf"|no(?=\s)|stop(?=\s+\w+ing\b)|{_WE_DENY})"
    rf"|\b(?:is|are|it's)\s+{_BANNED}\b|\b(?:isn't|aren't)\s+(?:allowed|permitted|ok|okay|fine|acceptable|welcome)\b)"
)
_BUT_DO = r"(?!\s+(?:forget|hesitate|fail|mind)\b)"
"""After a denial: "never forget to …" asks for something."""

_FORBIDDING = re.compile(_DENIAL + _BUT_DO, re.MULTILINE)
_NUMBERED = re.compile(
    r"^\s*(?:step\s+)?\(?1[.):]\s.*^\s*(?:step\s+)?\(?2[.):]\s"
    r"|(?:^|\s)\(?1[.)]\s.*\s\(?2[.)]\s"
    r"|\bstep\s+(?:1|one)\b.*\bstep\s+(?:2|two)\b",
    re.MULTILINE | re.DOTALL,
)
_THEN = r"(?:then|next|afterwards?|finally|second(?:ly)?)"
_ORDERED = re.compile(
    rf"(?:(?:^|[.;:,!?\n]\s*)first(?:ly)?\b|(?<!the )\bfirst\s*[,;:]).*\b{_THEN}\b", re.MULTILINE | re.DOTALL
)
_PREFERRING = re.compile(r"\b(?:prefer(?:s|red|ably)?|favou?r|better\s+to)\b")
_INSISTING = re.compile(r"\b(?:always|must|every\s+time)\b")
_WEIGHING = re.compile(r"\b(?:instead(?:\s+of)?|rather(?:\s+than)?)\b")

_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "'"})
_PARTS = re.compile(r"[.;:,!?()\n—–]+|\b(?:not|but|instead|rather|unless|except)\b")
_STANCE = frozenset({"always", "do", "must", "please", "should"})
"""Words that say that something is asked for, not what."""

_READ = 2_000
"""Characters that are looked at: the beginning of a rule shows its kind."""


def without_objection(text: str) -> str:
    """A correction without how it begins when somebody objects; what follows is the rule.

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

    1. it begins with a prohibition (never, must not, do not, avoid, …): a constraint
    2. steps are numbered ("1. … 2. …", "step 1 … step 2"): a procedure
    3. it forbids something anywhere: a constraint
    4. first …, then …: a procedure
    5. prefer, favour, better to: a preference
    6. always, must: a directive
    7. instead of, rather than: a preference
    8. anything else: a directive

    Parameters
    ----------
    text : one rule, in English.

    Raises
    ------
    ParamError : no text.

    Notes
    -----
    floop looks for its words anywhere; here "never forget to …" is no prohibition, and "do not" is one only
    where a clause begins: "if the tests do not pass" forbids nothing.

    Examples
    --------
    >>> texts = ["Never push to main", "Use pathlib instead of os.path", "Use pathlib"]
    >>> [rule_kind_of(text) for text in texts]
    ['constraint', 'preference', 'directive']
    """
    plain = _plain(text)
    denial = _FORBIDDING.search(plain)
    if denial is not None and denial.start() == 0:
        return "constraint"
    if _NUMBERED.search(plain):
        return "procedure"
    if denial is not None:
        return "constraint"
    if _ORDERED.search(plain):
        return "procedure"
    if _PREFERRING.search(plain):
        return "preference"
    return "preference" if _WEIGHING.search(plain) and not _INSISTING.search(plain) else "directive"


def forbids(text: str) -> bool:
    """Tell whether a text forbids something.

    >>> forbids("Never use tabs"), forbids("Never forget the tests"), forbids("Use spaces")
    (True, False, False)
    """
    return _FORBIDDING.search(_plain(text)) is not None


def denial_in(text: str) -> int | None:
    """Where a text begins to forbid something; None where it forbids nothing.

    >>> denial_in("Ask first, and never push"), denial_in("Push")
    (15, None)
    """
    plain = text.casefold().translate(_APOSTROPHES)
    match = _FORBIDDING.search(plain) if len(plain) == len(text) else None
    return None if match is None else match.start() + len(match["clause"] or "")


def contradicts(a: str, b: str, a_when: Mapping[str, Any], b_when: Mapping[str, Any]) -> bool:
    """Tell whether two rules ask for the opposite in the same place.

    They do if one's scope lies within the other's, both are of one clause, one of them forbids and the other does
    not, and the rest of their words overlap:

        |A ∩ B| / |A ∪ B| ≥ .6, words such as "never", "always" and "do" aside

    Parameters
    ----------
    a, b : the rules.
    a_when, b_when : when they apply.

    Raises
    ------
    ParamError : a rule that is no text, or a ``when`` that is no mapping.

    Notes
    -----
    A text of several clauses may forbid one thing and ask for another ("use logging, never print"): such
    texts contradict nothing, since a wrong contradiction would silence a rule.

    Examples
    --------
    >>> contradicts("Never commit to main", "Always commit to main", {}, {})
    True
    >>> contradicts("Never commit to main", "Always commit to main", {"language": "go"}, {})
    True
    >>> contradicts("Never commit to main", "Always commit to main", {"language": "go"}, {"task": "test"})
    False
    """
    narrow, wide = scope("a_when", a_when).items(), scope("b_when", b_when).items()
    if not (narrow <= wide or wide <= narrow) or forbids(a) == forbids(b):
        return False
    first, second = _subject(a), _subject(b)
    if not first or not second:
        return False
    return check_number("overlap", len(first & second) / len(first | second)) >= _CONFLICT


def _subject(text: str) -> frozenset[str]:
    """What a rule of one clause is about; nothing for one of several clauses."""
    body = _FORBIDDING.sub(lambda match: "; " if match["clause"] else " ", _plain(text))
    clauses = [part for part in _PARTS.split(body) if tokens(part)]
    return tokens(clauses[0]) - _STANCE if len(clauses) == 1 else frozenset()


def _plain(text: str) -> str:
    if not isinstance(text, str):
        raise ParamError("text", text, "must be a text")
    return text.strip()[:_READ].casefold().translate(_APOSTROPHES)
