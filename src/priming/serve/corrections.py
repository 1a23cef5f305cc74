"""Corrections in what a person says to an agent, found by rule: precision first, for what is learnt is kept to.

English only. A text in another language teaches nothing by itself; the agent can still call ``learn``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from priming.config.params.hooks import HOOK

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^(?: {4}|\t|>|\$ |\| ).*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])|\n+|\s+[—–]\s+|;\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SPACES = re.compile(r"\s+")
_FEWEST = 2

_NO = r"(?:no|nope|nah|wrong|incorrect|not quite|hold on|wait|hey|ugh|argh)"
_WRONG = (
    r"(?:(?:that|this|it)(?:['’]?s| is| was)(?: still)? (?:wrong|incorrect|not right|not correct"
    r"|not what i (?:said|asked(?: for)?|meant|want(?:ed)?)"
    r"|not how (?:we|i) do (?:it|that|this|things)(?: here)?)"
    r"|you(?:['’]re| are) wrong|not like that"
    r"|i (?:didn['’]?t|did not|never) (?:say|ask|mean|want)[^,.;:]*)"
)
_TOLD = (
    r"(?:as )?i(?:['’]ve| have)?(?: just)?(?: already)? (?:told|asked|said|mentioned|repeated)"
    r"(?: (?:to )?you)?(?: (?:this|that|it))?(?: (?:before|already|twice|again|many times|earlier))?"
)
_USES = r"(?:use|prefer|call|write|put|import|run|name|choose|pick|install|say|spell|return|pass)"
_DONT_WORD = r"(?:don['’]?t|do not)"


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


_OPENER = _pattern(
    rf"^(?:(?:{_NO}|{_WRONG}|actually|please|again|sorry|ok(?:ay)?|but|and|so|remember|reminder|note)[,.:;! ]+)+"
)
_OBJECTION = _pattern(
    rf"^(?:(?:please|ok(?:ay)?|sorry|but|well|actually|hm+),? )*(?:{_NO}[,.:;!]|{_WRONG}\b)"
)
_OBJECTING = _pattern(rf"^(?:{_NO}[,.:;! ]+)*{_WRONG}")
_TOLD_TO = _pattern(rf"^{_TOLD}[,:]? (?P<not>not )?to (?P<rest>.+)$")
_TOLD_THAT = _pattern(rf"^{_TOLD}[,:]? (?:that )?(?P<rest>(?:we|you|always|never|{_DONT_WORD}|use) .+)$")
_FROM_NOW = _pattern(
    r"^(?:from now on|from here on|in (?:the )?future|going forward|for (?:the )?future|next time|as a rule",
    r"|in this (?:repo|repository|project|codebase)|whenever you|every time you|each time you)\b[,:]? *",
)
_EVER = _pattern(
    r"^(?:you (?:should|must) |you need to |make sure (?:to|you) |please )?",
    r"(?P<ever>always|never)\s+(?P<verb>[a-z]+)\b",
)
_DONT = _pattern(rf"^(?:please )?{_DONT_WORD}\s+(?P<verb>[a-z]+)\b")
_STOP = _pattern(r"^(?:please )?(?:stop|quit) (?P<verb>[a-z]+ing)\b(?P<rest>.*)$")
_AGAIN = _pattern(r"\b(?:ever again|again|any ?more|every time|ever)\b")
_WE = _pattern(
    r"^(?:(?:here|around here|in this (?:repo|project|codebase))[,]? )?",
    rf"we (?:always|never|only|{_DONT_WORD}) (?P<verb>[a-z]+)\b",
)
_CONTRAST = _pattern(
    rf"^(?:you (?:should|must|need to) |it should be |please )?(?P<right>{_USES}\s+.+?)",
    r"(?P<how>,? instead of |,? rather than |,? in place of |,? not | over )(?P<wrong>[^,;:!?]+?)[.!]*$",
)
_DO_INSTEAD = _pattern(
    rf"^(?:{_DONT_WORD}|never) (?:use|call|write|import|run|install) (?P<wrong>[^,;:]+?)[,.;:]+ +",
    r"(?:but |instead,? )?(?P<right>(?:use|call|write|import|run|install) .+?)(?: instead)?[.!]*$",
)
_USE = _pattern(r"^(?:use|prefer|call|run|install|import) (?P<rest>.+?)(?: instead)?[.!]*$")
_VAGUE = _pattern(
    r"\b(?:this(?! (?:repo|repository|project|codebase)\b)|that|it|these|those|them|there|here",
    r"|the (?:same|above|other|previous|first|last)|one|something|anything)\b",
)
_IDLE = frozenset(
    (
        *(
            "mind",
            "knew",
            "know",
            "thought",
            "heard",
            "seen",
            "saw",
            "had",
            "been",
            "was",
            "were",
            "is",
            "am",
        ),
        *("did", "worry", "bother", "so", "a", "the", "in", "on", "green", "red"),
    )
)
"""What follows "never" or "don't" where nothing is forbidden."""
_SUFFERED = frozenset(
    (
        "have",
        "need",
        "want",
        "get",
        "see",
        "hit",
        "fail",
        "end",
        "run",
        "receive",
        "lose",
        "had",
        "got",
        "saw",
    )
)
"""What we always do without meaning to: it is told, not ruled."""
_OF_NOW = frozenset(
    ("running", "serving", "watching", "listening", "recording", "processing", "waiting", "here", "now")
)
"""What a person asks to be stopped now rather than never to be done again."""
_NOW = _pattern(r"\b(?:yet|now|at the moment|this time|just|until|today|tomorrow)\b")
_TOLD_OF = _pattern(r"^(?:the|an?|it|its|there|our|my|their|his|her|they|he|she|that|i)\b")
"""How a sentence begins that says how things are, not what to do."""
_ASKING = _pattern(
    r"^(?:why|how|what|when|where|who|which|can|could|would|should|shall",
    r"|do (?!not\b)|does|did|is|are|was|will)\b",
)
_LASTS = _pattern(r"\b(?:always|never)\b")


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction that somebody made: what to do, what was done instead, and whether that is ``sure``.

    Of one that is not sure nothing is learnt: the agent, who knows what it is about, is asked to.
    """

    right: str
    wrong: str | None = None
    sure: bool = True


def detect(text: str) -> Correction | None:
    """The first correction in a text, sure ones before others; None where there is none.

    >>> detect("No, use pathlib instead of os.path.")
    Correction(right='Use pathlib instead of os.path', wrong='os.path', sure=True)
    >>> detect("I told you not to push to main").right
    'Do not push to main'
    >>> detect("Use pathlib in the new module"), detect("why don't you use a set here?")
    (None, None)
    """
    prose = _QUOTED.sub("", _FENCED.sub("\n", text[: HOOK.read]))
    found = list(_found(prose))
    short = len(_WORD.findall(prose)) <= HOOK.teaching and len(text) <= HOOK.read
    sure = next((one for one in found if one.sure), None)
    if sure is not None and short:
        return sure
    return next((Correction(one.right, one.wrong, sure=False) for one in found), None)


def _found(prose: str) -> Iterator[Correction]:
    objected = False
    for part in _SENTENCE.split(prose):
        sentence = _SPACES.sub(" ", part).strip()
        if not sentence:
            continue
        objects = bool(_OBJECTION.match(sentence))
        one = _of(sentence, objected=objected or objects)
        objected = objects
        if one is not None and len(_WORD.findall(one.right)) <= HOOK.rule_words:
            yield one


def _of(sentence: str, *, objected: bool) -> Correction | None:
    """The correction that a sentence makes; ``objected`` says that it follows upon, or is, an objection."""
    if sentence.endswith("?"):
        return None
    body = _OPENER.sub("", sentence).strip()
    told = _told(body)
    if told is not None:
        return told
    settled = _FROM_NOW.match(body)
    if settled is not None:
        return _settled(body, settled)
    lasting = _lasting(body)
    if lasting is not None:
        return lasting
    if not objected:
        return None
    return _instead(body) or _against(sentence, body)


def _told(body: str) -> Correction | None:
    """What somebody says that he said before."""
    found = _TOLD_TO.match(body)
    if found is not None:
        return _rule(f"Do not {found['rest']}" if found["not"] else found["rest"])
    found = _TOLD_THAT.match(body)
    return None if found is None else _rule(found["rest"])


def _settled(body: str, opener: re.Match[str]) -> Correction | None:
    """What is to hold from now on; an opener that says when it applies is part of the rule."""
    rest = body[opener.end() :]
    if not opener[0].lower().startswith(("whenever", "every", "each", "in this")):
        return None if _TOLD_OF.match(rest) else _rule(rest)
    if opener[0].lower().startswith("in this"):
        return _lasting(rest) and _rule(body)
    return Correction(_shaped(body), sure=not _NOW.search(body)) if "," in body else None


def _lasting(body: str) -> Correction | None:
    """A rule by its own words: always, never, stop doing, don't ever, we never."""
    ever = _EVER.match(body)
    if ever is not None and ever["verb"].lower() not in _IDLE:
        return _rule(body[ever.start("ever") :])
    stop = _STOP.match(body)
    if stop is not None:
        return None if stop["verb"].lower() in _OF_NOW or not stop["rest"].strip(" .!") else _rule(body)
    dont = _DONT.match(body)
    if dont is not None and dont["verb"].lower() not in _IDLE and _AGAIN.search(body):
        return _rule(body)
    ours = _WE.match(body)
    if ours is not None and ours["verb"].lower() not in _IDLE | _SUFFERED:
        always = _LASTS.search(body) is not None
        return Correction(_shaped(body), sure=always and not _is_vague(body))
    return None


def _instead(body: str) -> Correction | None:
    """What to do in place of what was done, said as an objection."""
    for pattern in (_DO_INSTEAD, _CONTRAST):
        found = pattern.match(body)
        if found is not None:
            return _rule(body, found["wrong"])
    dont = _DONT.match(body)
    if dont is not None and dont["verb"].lower() not in _IDLE:
        return _rule(body)
    found = _USE.match(body)
    if found is None:
        return None
    rule = _rule(body)
    return rule and Correction(rule.right, sure=rule.sure and not found["rest"].lower().startswith("the "))


def _against(sentence: str, body: str) -> Correction | None:
    """An objection of which the rule cannot be read: the agent may know what it is."""
    if _OBJECTING.match(sentence):
        return Correction(_shaped(body or sentence), sure=False)
    return None


def _rule(words: str, wrong: str | None = None) -> Correction | None:
    """A rule in these words, none if it is of now only; not a sure one if only this conversation knows what of."""
    right = _shaped(words)
    if len(_WORD.findall(right)) < _FEWEST or _NOW.search(right) or _ASKING.match(right):
        return None
    return Correction(right, wrong.strip(" .!`'\"") if wrong else None, sure=not _is_vague(right))


def _is_vague(text: str) -> bool:
    return _VAGUE.search(text) is not None


def _shaped(words: str) -> str:
    """A rule as it is kept: begun with a capital, without the stop at its end."""
    plain = words.strip(" ,;:").rstrip(".! ")
    return plain[:1].upper() + plain[1:]
