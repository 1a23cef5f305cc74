"""Corrections in a person's prompts, detected by patterns: precision first, since agents follow what is learned.

English only. A prompt in another language teaches nothing by itself; the agent can still call ``learn``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from priming.config.params.hooks import HOOK

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED = re.compile(r"^(?: {4}|\t|>|\$ |\| ).*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])|\n+|\s+[—–]\s+|;\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SPACES = re.compile(r"\s+")
_MIN_WORDS = 2

_NO = r"(?:no|nope|nah|wrong|incorrect|not quite|hold on|wait|hey|ugh|argh)"
_WRONG = (
    r"(?:(?:that|this|it)(?:['’]?s| is| was)(?: still)? (?:wrong|incorrect|not right|not correct"
    r"|not what i (?:said|asked(?: for)?|meant|want(?:ed)?)"
    r"|not how (?:we|i) do (?:it|that|this|things)(?: here)?)"
    r"|you(?:['’]re| are) wrong|not like that"
    r"|i (?:didn['’]?t|did not|never) (?:say|ask|mean|want)[^,.;:]*)"
)
_REPEATED = (
    r"(?:as )?i(?:['’]ve| have)?(?: just)?(?: already)? (?:told|asked|said|mentioned|repeated)"
    r"(?: (?:to )?you)?(?: (?:this|that|it))?(?: (?:before|already|twice|again|many times|earlier))?"
)
_USES = r"(?:use|prefer|call|write|put|import|run|name|choose|pick|install|say|spell|return|pass)"
_DONT_WORD = r"(?:don['’]?t|do not)"


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


_OPENER = _pattern(
    rf"^(?:(?:{_NO}|{_WRONG}|actually|please|again|sorry|ok(?:ay)?|but|and|so|remember|reminder|note)[,.:;! ]+)+"
)
_OBJECTION = _pattern(
    rf"^(?:(?:please|ok(?:ay)?|sorry|but|well|actually|hm+),? )*(?:{_NO}[,.:;!]|{_WRONG}\b)"
)
_OBJECTING = _pattern(rf"^(?:{_NO}[,.:;! ]+)*{_WRONG}")
_REPEATED_TO = _pattern(rf"^{_REPEATED}[,:]? (?P<not>not )?to (?P<rest>.+)$")
_REPEATED_THAT = _pattern(
    rf"^{_REPEATED}[,:]? (?:that )?(?P<rest>(?:we|you|always|never|{_DONT_WORD}|use) .+)$"
)
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
_IDLE = _words(
    "mind knew know thought heard seen saw had been was were is am did worry bother so a the in on green red"
)
"""Words after "never" or "don't" where nothing is forbidden."""
_INVOLUNTARY = _words("have need want get see hit fail end run receive lose had got saw")
"""What "we always" do unintentionally: a report, not a rule."""
_RUNNING = _words("running serving watching listening recording processing waiting here now")
"""Activities that a person asks to stop now, rather than never to do again."""
_NOW = _pattern(r"\b(?:yet|now|at the moment|this time|just|until|today|tomorrow)\b")
_STATEMENT = _pattern(r"^(?:the|an?|it|its|there|our|my|their|his|her|they|he|she|that|i)\b")
"""The beginning of a sentence that states a fact, not a rule."""
_ASKING = _pattern(
    r"^(?:why|how|what|when|where|who|which|can|could|would|should|shall",
    r"|do (?!not\b)|does|did|is|are|was|will)\b",
)
_LASTS = _pattern(r"\b(?:always|never)\b")


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction by a person: what to do, what was done instead, and whether it is ``certain``.

    Nothing is learned from one that is not certain: the agent, who knows the conversation, is asked to learn it.
    """

    right: str
    wrong: str | None = None
    certain: bool = True


def detect(text: str) -> Correction | None:
    """The first correction in a text, certain ones before others; None where there is none.

    >>> detect("No, use pathlib instead of os.path.")
    Correction(right='Use pathlib instead of os.path', wrong='os.path', certain=True)
    >>> detect("I told you not to push to main").right
    'Do not push to main'
    >>> detect("Use pathlib in the new module"), detect("why don't you use a set here?")
    (None, None)
    """
    prose = _QUOTED.sub("", _FENCED.sub("\n", text[: HOOK.read]))
    corrections = list(_corrections(prose))
    is_short = len(_WORD.findall(prose)) <= HOOK.teaching and len(text) <= HOOK.read
    certain = next((correction for correction in corrections if correction.certain), None)
    if certain is not None and is_short:
        return certain
    return replace(corrections[0], certain=False) if corrections else None


def _corrections(prose: str) -> Iterator[Correction]:
    objected = False
    for part in _SENTENCE.split(prose):
        sentence = _SPACES.sub(" ", part).strip()
        if not sentence:
            continue
        objects = bool(_OBJECTION.match(sentence))
        correction = _correction(sentence, objected=objected or objects)
        objected = objects
        if correction is not None and len(_WORD.findall(correction.right)) <= HOOK.rule_words:
            yield correction


def _correction(sentence: str, *, objected: bool) -> Correction | None:
    """The correction that a sentence makes; ``objected`` means that the sentence is, or follows, an objection."""
    if sentence.endswith("?"):
        return None
    body = _OPENER.sub("", sentence).strip()
    repeated = _repeated(body)
    if repeated is not None:
        return repeated
    opener = _FROM_NOW.match(body)
    if opener is not None:
        return _from_now_on(body, opener)
    lasting = _lasting(body)
    if lasting is not None or not objected:
        return lasting
    return _instead(body) or _objection(sentence, body)


def _repeated(body: str) -> Correction | None:
    """A repeated instruction: "I told you to …"."""
    match = _REPEATED_TO.match(body)
    if match is not None:
        return _rule(f"Do not {match['rest']}" if match["not"] else match["rest"])
    match = _REPEATED_THAT.match(body)
    return None if match is None else _rule(match["rest"])


def _from_now_on(body: str, opener: re.Match[str]) -> Correction | None:
    """What applies from now on; an opener that says when it applies is part of the rule."""
    rest = body[opener.end() :]
    first = opener[0].lower()
    if not first.startswith(("whenever", "every", "each", "in this")):
        return None if _STATEMENT.match(rest) else _rule(rest)
    if first.startswith("in this"):
        return _lasting(rest) and _rule(body)
    return Correction(_sentence(body), certain=not _NOW.search(body)) if "," in body else None


def _lasting(body: str) -> Correction | None:
    """A rule by its own words: always, never, stop doing, don't ever, we never."""
    ever = _EVER.match(body)
    if ever is not None and ever["verb"].lower() not in _IDLE:
        return _rule(body[ever.start("ever") :])
    stop = _STOP.match(body)
    if stop is not None:
        return None if stop["verb"].lower() in _RUNNING or not stop["rest"].strip(" .!") else _rule(body)
    dont = _DONT.match(body)
    if dont is not None and dont["verb"].lower() not in _IDLE and _AGAIN.search(body):
        return _rule(body)
    habit = _WE.match(body)
    if habit is not None and habit["verb"].lower() not in _IDLE | _INVOLUNTARY:
        always = _LASTS.search(body) is not None
        return Correction(_sentence(body), certain=always and not _is_vague(body))
    return None


def _instead(body: str) -> Correction | None:
    """The correct action named in an objection."""
    for pattern in (_DO_INSTEAD, _CONTRAST):
        match = pattern.match(body)
        if match is not None:
            return _rule(body, match["wrong"])
    dont = _DONT.match(body)
    if dont is not None and dont["verb"].lower() not in _IDLE:
        return _rule(body)
    match = _USE.match(body)
    if match is None:
        return None
    rule = _rule(body)
    return rule and replace(rule, certain=rule.certain and not match["rest"].lower().startswith("the "))


def _objection(sentence: str, body: str) -> Correction | None:
    """An objection without a rule in its words: the agent may know the rule."""
    return Correction(_sentence(body or sentence), certain=False) if _OBJECTING.match(sentence) else None


def _rule(words: str, wrong: str | None = None) -> Correction | None:
    """A rule in these words; none if it is about the present only, not certain if its words are vague."""
    right = _sentence(words)
    if len(_WORD.findall(right)) < _MIN_WORDS or _NOW.search(right) or _ASKING.match(right):
        return None
    return Correction(right, wrong.strip(" .!`'\"") if wrong else None, certain=not _is_vague(right))


def _is_vague(text: str) -> bool:
    """Whether only the conversation explains a text: "use that one"."""
    return _VAGUE.search(text) is not None


def _sentence(words: str) -> str:
    """Words with a capital at the beginning and without a full stop at the end."""
    plain = words.strip(" ,;:").rstrip(".! ")
    return plain[:1].upper() + plain[1:]
