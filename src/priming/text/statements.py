"""Simple English statements as subject, slot and value; doubtful ones are not read."""

from __future__ import annotations

import re
from functools import lru_cache

from priming.config.values import dataclass
from priming.text.names import normal
from priming.text.tokens import terms

READ = 1024
"""Size of the cache of statements: a text is read when it is remembered and when it is compared."""

_LETTERS = 240
_SUBJECT_WORDS, _SLOT_WORDS, _VALUE_WORDS = 6, 4, 6

_UNSURE = re.compile(
    r"\b(?:not|never|no|none|nor|neither|cannot|hardly|barely|(?-i:may)|might|could|would|should|can|must|will|shall|if"
    r"|unless|when|whenever|while|whether|perhaps|maybe|probably|possibly|likely|apparently|allegedly|supposedly"
    r"|seems?|appears?|thinks?|believes?|says?|said|told|heard|hopes?|wants?|used|formerly|previously|once|ago|until"
    r"|till|since|before|after|during|yesterday|tomorrow|soon|sometimes|often|usually|mostly|rarely|also|too|only"
    r"|either|both|or|and|but|because|so|than|which|who|whom|whose|that|there|this|these|those|another|other|some"
    r"|any|every|each|all|many|most|few|several|one[ ]of|instead|except|without)\b|n['’]t\b|[?;:()\[\]{}…]|,\s",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:now|currently|presently|today|still|already|at present|these days)\b[ ]?", re.IGNORECASE
)
_INSIDE = re.compile(r"[.!]\s")
_PRONOUNS = "i me my we us our you your he him his she her it its they them their someone somebody something"
_PRONOUNS_ALONE = frozenset(_PRONOUNS.split())
_FUNCTION_WORDS = (
    "is are was were be been being am has have had do does did for with from by as about into over under when in"
    " on to what how why where like"
)
_STRAY = frozenset(_FUNCTION_WORDS.split())
"""Words that show that a subject or a value is more than one."""

_WORD = r"[\w@#/.+'’\"“”`-]+"
_IS = r"(?P<is>is|are|was|were)"
_OF = re.compile(
    rf"(?:the[ ])(?P<slot>{_WORD}(?:[ ]{_WORD}){{0,3}}?)[ ](?:of|for)[ ](?P<subject>.+?)[ ]{_IS}[ ](?P<value>.+)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(
    rf"(?P<subject>.+?)(?:['’]s|(?<=s)['’])[ ](?P<slot>{_WORD}(?:[ ]{_WORD}){{0,3}}?)[ ]{_IS}[ ](?P<value>.+)",
    re.IGNORECASE,
)
_OWN = re.compile(rf"(?:my)[ ](?P<slot>{_WORD}(?:[ ]{_WORD}){{0,3}}?)[ ]{_IS}[ ](?P<value>.+)", re.IGNORECASE)
_AGE = re.compile(rf"(?P<subject>.+?)[ ]{_IS}[ ](?P<value>\d+)(?:[ ]years[ ]old)?", re.IGNORECASE)
_HAS = re.compile(
    r"(?P<subject>.+?)[ ](?:has|have)[ ](?P<value>\d[\d.,]*)[ ](?P<slot>[a-z]+(?:[ ][a-z]+)?)", re.IGNORECASE
)
_STATES = (
    "up down", "on off", "open closed", "enabled disabled", "alive dead", "online offline", "true false",
    "active inactive", "available unavailable", "green red", "public private", "safe unsafe", "full empty",
    "broken working", "married single", "locked unlocked", "mandatory optional",
)  # fmt: skip
_STATE_OF = {word: pair for pair in _STATES for word in pair.split()}
_STATE = re.compile(rf"(?P<subject>.+?)[ ]{_IS}[ ](?P<value>{'|'.join(_STATE_OF)})", re.IGNORECASE)
_PARTICIPLES = (
    "based in", "born in", "born on", "called", "deployed on", "deployed to", "due on", "due in",
    "hosted at", "hosted by", "hosted in", "hosted on", "installed on", "led by", "located at",
    "located in", "maintained by", "managed by", "married to", "named", "owned by", "scheduled for",
    "set to", "stored in", "stored on", "written in",
)  # fmt: skip
_VERBS = (
    "belongs to", "begins at", "closes at", "costs", "drives", "ends at", "expires in", "expires on", "hangs in",
    "hangs on", "listens on", "lives at", "lives in", "measures", "meets at", "meets on", "opens at", "points to",
    "prefers", "reports to", "runs on", "sits in", "sits on", "stands in", "starts at", "starts on", "studies at",
    "takes place in", "uses", "weighs", "works at", "works for", "works in",
    "lived in", "worked at", "worked for", "ran on", "cost", "ended at", "started at",
)  # fmt: skip
_VERBAL_STATEMENT = re.compile(
    r"(?P<subject>.+?)[ ]"
    rf"(?P<slot>(?:(?:is|are|was|were)[ ](?:{'|'.join(_PARTICIPLES)}|in|at|on)|{'|'.join(_VERBS)}))"
    r"[ ](?P<value>.+)",
    re.IGNORECASE,
)
_SLOT_NAMES = {"is called": "name", "is named": "name"}
_PAST = ("was", "were")
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_FIGURES = {word: str(number) for number, word in enumerate(_COUNTED.split())}


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text says: the ``slot`` of the ``subject`` has the ``value``; subject and slot in normal form."""

    subject: str
    slot: str
    value: str


@lru_cache(maxsize=READ)
def statement(text: str, speaker: str | None = None) -> Statement | None:
    """Read a simple statement in English.

    These forms are read, where the text is one plain sentence: "the <slot> of <subject> is <value>",
    "<subject>'s <slot> is <value>", "my <slot> is <value>" of a known speaker, "<subject> has <number> <slot>",
    and "<subject> <verb> <value>" for verbs that take one value at a time ("lives in", "works at", "runs on",
    "uses", "costs", "is located in", …). Of "<subject> is <value>" only numbers, opposites ("up", "down") and
    places ("is in …") are read: Ada can be tall and a pilot.

    Parameters
    ----------
    text : the text of a memory.
    speaker : who says it, if that is known: the subject of "my".

    Returns
    -------
    None for anything else: questions, negations, conditions, what was or will be at some time, enumerations,
    pronouns, more than one sentence.

    Examples
    --------
    >>> statement("The capital of Kestrel is now Oslo.")
    Statement(subject='kestrel', slot='capital', value='Oslo')
    >>> statement("Ada's port is 80") == statement("The port of Ada is 80.")
    True
    >>> statement("Ada might live in Oslo.") is None
    True
    """
    if len(text) > _LETTERS or "\n" in text.strip():
        return None
    plain = " ".join(_NOW.sub("", text.strip()).split()).rstrip(".! ")
    if not plain or _UNSURE.search(plain) or _INSIDE.search(plain) or text.rstrip().endswith("?"):
        return None
    return _owned(plain, speaker) or _of(plain) or _counted(plain) or _stated(plain) or _verbal(plain)


def same_slot(first: Statement, second: Statement) -> bool:
    """Tell whether two statements speak of one slot of one subject."""
    return (first.subject, first.slot) == (second.subject, second.slot)


def values_differ(value: str, other: str) -> bool:
    """Tell whether two values exclude each other; one that only says more than the other does not.

    >>> values_differ("Oslo", "Bergen"), values_differ("Oslo", "the city of Oslo"), values_differ("ten", "10")
    (True, False, False)
    """
    first, second = _tokens(value), _tokens(other)
    return not (first <= second or second <= first)


def _owned(plain: str, speaker: str | None) -> Statement | None:
    match = _OWN.fullmatch(plain)
    if match is None or not speaker:
        return None
    return _checked(speaker, match["slot"], match["value"], match["is"])


def _of(plain: str) -> Statement | None:
    for pattern in (_OF, _POSSESSIVE):
        match = pattern.fullmatch(plain)
        if match is not None:
            return _checked(match["subject"], match["slot"], match["value"], match["is"])
    return None


def _counted(plain: str) -> Statement | None:
    match = _HAS.fullmatch(plain)
    return (
        None
        if match is None
        else _checked(match["subject"], f"number of {match['slot']}", match["value"], "is")
    )


def _stated(plain: str) -> Statement | None:
    age, state = _AGE.fullmatch(plain), _STATE.fullmatch(plain)
    if age is not None:
        return _checked(age["subject"], "number", age["value"], age["is"])
    if state is not None:
        return _checked(state["subject"], _STATE_OF[state["value"].lower()], state["value"], state["is"])
    return None


def _verbal(plain: str) -> Statement | None:
    match = _VERBAL_STATEMENT.fullmatch(plain)
    if match is None:
        return None
    slot = " ".join(match["slot"].lower().split()).replace("are ", "is ", 1)
    return _checked(match["subject"], _SLOT_NAMES.get(slot, slot), match["value"], "is")


def _checked(subject: str, slot: str, value: str, verb: str) -> Statement | None:
    """The statement, if its parts are what they should be: one thing, one slot, one value."""
    who, value = normal(subject), value.strip("\"'“”‘’` ")
    slot = " ".join(normal(slot).split())
    subjects, values = who.split(), value.casefold().split()
    if not who or not value or len(subjects) > _SUBJECT_WORDS or len(values) > _VALUE_WORDS:
        return None
    if not slot or len(slot.split()) > _SLOT_WORDS:
        return None
    strays = _STRAY | _PRONOUNS_ALONE
    if (
        strays.intersection(subjects[:1])
        or strays.intersection(values)
        or (_STRAY - {"in", "on", "to"}) & set(subjects)
    ):
        return None
    past = verb.lower() in _PAST
    return Statement(who, f"{slot} (past)" if past else slot, value)


def _tokens(value: str) -> frozenset[str]:
    plain = [_FIGURES.get(word, word) for word in value.casefold().split()]
    return frozenset(terms(" ".join(plain)) or plain)
