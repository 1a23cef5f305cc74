"""What a statement asks for and what it rejects: "use A instead of B", "never B", "A, not B", by rules.

Words are stems, with one word for each group of synonyms; numbers, code and names with alternatives stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Literal

from priming.config.values import dataclass
from priming.errors import ParamError
from priming.text.word_lists import read_rewritings, read_words
from priming.text.word_values import ORDERING, spread, stem_of, value_types

_READ = 2_000
"""Characters of a statement that are compared."""
_MOST = 600
"""Words and marks that are compared: more than so many characters of ordinary words have."""

_WORD_TOKEN = r"--?[a-z][\w-]*|[*.~/#@:<]{0,16}[\w$]+(?:[./:@*\\_+'-]+[\w$*…>]+)*(?:\+\+|#|/|\(\)|>)?"
_TOKENS = re.compile(rf"[⊖⊕⊝⊘⊙]|{_WORD_TOKEN}|%|[=!<>&|?*+]{{1,3}}(?=[\s;,.]|$)|[.;:?\n]+|!+(?!\w)|,")
_BREAK = re.compile(r"^(?:[.;:!?\n]+|,)$")
_CAPITAL = re.compile(r"(?<=[\w,;)] )[A-Z][\w.+#-]*")
_SUBJECT = re.compile(r"^\s*([A-Z][a-z]+) [a-z]+s (?:the|an?|all|every|each|any|our|its)\b")
_NAMED_A = re.compile(
    r"\ba(?= *(?:$|[.,;!)+*/=<>-])| (?:and|or|to|into|over|minus|plus|times|before|after|than|by|from|with|then|is"
    r"|are|against|instead|rather|not)\b)"
)
"""The letter as a name, where no noun follows: "copy from A to B"."""
_STRESSED = "A|AN|ALL|ANY|ALWAYS|ARE|BE|BEEN|DO|DOES|EACH|EVERY|HAVE|IS|MUST|NO|PLEASE|SHALL|SHOULD|THE|WILL"
_QUOTED = re.compile(rf"`([\w-]+)`|(?<=[\w,;)] )(Any|(?!(?:{_STRESSED})\b)[A-Z]{{2,}})\b")
"""Words that are meant as they are written: in code, the type Any, abbreviations such as GET and US."""
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "", '"': "", "“": "", "”": ""})

_MOVED = (
    "before|after|when|whenever|if|once|in|for|on|at|during|inside|outside|within|under|while|unless|until|where"
    "|with|as soon as|every time|each time|across|from"
)
_FRONTED = re.compile(
    rf"(?P<start>(?:^|[.;] ) *)(?P<order>(?:only )?(?:{_MOVED}) [^,;.]+),\s*(?P<rest>[^;⊙]+?)(?=$|[.;] )"
)
_PASSIVE = re.compile(
    r"(?P<start>^|[.;] ) *(?P<patient>[^,;.]+?) (?P<modal>(?:must|should|shall|may|can|need|will|have)?"
    r"(?: (?:not|never|always|only|to))*) ?\b(?:is|are|be|being|gets?) "
    r"(?P<verb>(?:(?:always|never|only|not|[a-z]+ly) )*[a-z]+(?:ed|en|wn|lt|ne|nt|pt|id)) by "
    r"(?P<agent>(?:(?!(?:before|after|when|if|in|on|at|for|within|unless|until|and)\b)[^\s,;.]+ ?)+)"
)
_REPLACE = re.compile(
    r"\b(?:replace|swap|substitute)[sd]?\s+(?P<old>.+?)\s+(?:with|by|for)\s+(?P<new>[^.;,]+)"
    r"|\b(?:switch|move|migrate|change|go)(?:ed|d|ing|ing over)?(?:\s+(?:over|away))?"
    r"\s+from\s+(?P<from>.+?)\s+to\s+(?P<to>[^.;,]+)"
    r"|\b(?:switch|move|migrate|change|raise|lower|increase|reduce|decrease|extend|shorten|bump|update|cut)[sd]?"
    r"\s+(?P<what>[^.;,]+?)\s+from\s+(?P<low>[^.;,]+?)\s+to\s+(?P<high>[^.;,]+)"
)
_BARE_OVER = re.compile(
    r"^ *(?P<first>[\w./-]+)(?P<right>(?: [\w./-]+){0,2}) over (?P<wrong>[\w./-]+(?: [\w./-]+)?)"
    r" *[.!]?(?= *$| (?:in|for|when|on) )"
)
_TAKES_OVER = frozenset("iterate loop serve send run talk connect go pass roll hand take move".split())  # noqa: SIM905
_PURPOSES = frozenset("reduce avoid improve prevent ease save simplify minimise minimize help speed".split())  # noqa: SIM905
_CHOOSING = frozenset(
    "use uses used using prefer prefers preferred choose chooses pick favour favor favours favors adopt employ"  # noqa: SIM905
    " utilise utilize".split()
)
_SCOPING = frozenset(
    "for in when if while during inside outside within under unless except until across where".split()  # noqa: SIM905
)
_VALUING = frozenset(
    "with to on at by as from into onto via through than max min be is are against behind above below over per"  # noqa: SIM905
    " using".split()
)
_TOO_COMMON = frozenset(["number", "target", "code", "other"])
EXCLUDING = frozenset(["unless", "except", "outside"])
"""Words before a place where a statement does not hold."""
_QUANTITY = re.compile(r"[\d.]+ \w+")
_BINDING = frozenset(("of", "between", "out", "minus", "plus", "otherwise", "else"))
"""Words that bind what follows them to what stands before, and change neither sign nor role."""
_BEING = frozenset(("is", "are", "be"))
_LIMITS = {"max": "min", "min": "max"}
_EXPRESSING = frozenset(
    "write name store keep save export format spell express serialis serial return log put place go belong"  # noqa: SIM905
    " live".split()
)
"""Verbs after which "in" leads to a value: "write it in YAML"."""

_ORDERED = re.compile(
    r"\b(?:in|by) (?:(?:that|this|the following|exactly this|exactly that) (?:order|sequence)|order of)\b"
    r"|\border\b.*\b(?:as|is|by)\b|\bthen\b|\bfollowed by\b|\bfirst\b|\bfinally\b|\bprecedence\b|\bpriority\b"
    r"|[-=]>|→|\w\([^()]*,[^()]*\)"
)
"""What says that the order of a list matters."""
_FINITE = re.compile(
    r"(?<=[\w)] )(?:is|are|was|were|be|gets?|must|should|shall|may|can|cannot|will|needs?|requires?|has|have|mustn't"
    r"|can't)\b"
)
"""Verbs after a subject."""
_TRANSITIVE = frozenset("have has had need needs like likes want wants get gets make makes".split())  # noqa: SIM905
"""Verbs that say little, but between two nouns tell who does it from to what it is done."""

Role = Literal["head", "scope", "value", "plain", "reason"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a statement: its stem, as it was written, its sign (asked for or rejected), and its role.

    ``lead`` is the preposition before it, ``part`` the number of its clause or of its member of an enumeration.
    ``contrasted``: it is rejected in favour of another. ``lacking``: it follows "without". ``proper``: it is
    a name. ``place``: its position. ``under``: the preposition of the phrase that it is in. ``verb``: the verb before
    it that says little, and is no word of its own: "widgets *use* hooks".
    """

    stem: str
    text: str
    sign: int
    role: Role
    lead: str = ""
    part: int = 0
    contrasted: bool = False
    lacking: bool = False
    proper: bool = False
    place: int = 0
    under: str = ""
    verb: str = ""


@dataclass(frozen=True, slots=True)
class SignedText:
    """A statement as signed words in order; ``chooses``: it says which of several to use; ``only``: it restricts.

    ``ordered``: it says that the order of what it lists matters. ``listed``: its members are joined by "and" or "or".
    ``limited``: the stem of the word that "only" stands before. ``joins``: "and" and "or", as far as they occur.
    ``finite``: a verb such as "are" or "must" follows its subject. ``source``: the text as it was written.
    """

    words: tuple[Word, ...]
    chooses: bool
    only: bool
    ordered: bool = False
    listed: bool = False
    finite: bool = False
    source: str = ""
    limited: str = ""
    joins: frozenset[str] = frozenset()


@lru_cache(maxsize=4_096)
def read_statement(text: str) -> SignedText:
    """Read a statement as words that it asks for and words that it rejects.

    >>> [(word.stem, word.sign) for word in read_statement("Use httpx instead of requests").words]
    [('httpx', 1), ('request', -1)]
    """
    if not isinstance(text, str):
        raise ParamError("text", text, "must be a text")
    names = {match.casefold() for match in _CAPITAL.findall(text[:_READ])}
    names |= {match.casefold() for match in _SUBJECT.findall(text[:_READ])}
    shouted = 2 * sum(map(str.isupper, text.split())) > len(text.split())
    quoted = frozenset(
        "".join(match).casefold() for match in _QUOTED.findall(text[:_READ]) if match[0] or not shouted
    )
    lowered = " ".join(text[:_READ].replace("\n", " ; ").casefold().translate(_APOSTROPHES).split())
    lowered = _NAMED_A.sub("A", lowered)
    plain = _REPLACE.sub(_as_contrast, _PASSIVE.sub(_as_active, lowered))
    plain = _BARE_OVER.sub(_as_choice, plain)
    for pattern, replacement in _rewritings():
        plain = pattern.sub(f" {replacement} ", plain)
    plain = _FRONTED.sub(r"\g<start>\g<rest> \g<order>", " ".join(plain.split()))
    read = _parse(_TOKENS.findall(plain)[:_MOST], names, quoted)
    source, ordered = " ".join(text[:_READ].split()), _ORDERED.search(lowered) is not None
    return replace(read, ordered=ordered, finite=_FINITE.search(lowered) is not None, source=source)


@lru_cache(maxsize=4_096)
def comparison_keys(text: str) -> frozenset[str]:
    """The words of a statement and their groups of alternatives: two that share none say nothing of each other.

    >>> comparison_keys("Use tabs") & comparison_keys("Use spaces") != frozenset()
    True
    """
    words = read_statement(text).words
    return frozenset(key for word in words for key in (word.stem, *(value_types(word.stem) - _TOO_COMMON)))


@cache
def _rewritings() -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), replacement) for pattern, replacement in read_rewritings("rewritings")]


@cache
def _fillers() -> frozenset[str]:
    return frozenset(read_words("fillers"))


def _as_contrast(match: re.Match[str]) -> str:
    """Write "replace A with B" as "use B ⊖ A", "raise C from A to B" as "C to B ⊖ A"."""
    if match["what"]:
        return f" {match['what']} to {match['high']} ⊖ {match['low']} "
    old, new = match["old"] or match["from"], match["new"] or match["to"]
    return f" use {new} ⊖ {old} "


def _as_active(match: re.Match[str]) -> str:
    """Write "A is reviewed by B" as "B reviewed A"."""
    return f"{match['start']}{match['modal']} {match['agent']} {match['verb']} {match['patient']} "


def _as_choice(match: re.Match[str]) -> str:
    """Write "A over B" as "prefer A over B"."""
    if match["first"] in _TAKES_OVER or match["first"] in _CHOOSING:
        return match[0]
    return f" prefer {match[0].strip()} "


def _parse(tokens: Sequence[str], names: set[str], quoted: frozenset[str]) -> SignedText:
    """Give each token its sign and its role, clause by clause."""
    words: list[Word] = []
    clause = _Clause(0, names, quoted)
    chooses = only = False
    limited, joins = "", set()
    for token, text in spread(tokens):
        if _BREAK.match(token):
            clause.end()
            words += clause.ordered()
            clause = _Clause(clause.part + 1, names, quoted)
        elif token == "only":
            only = True
        else:
            joins |= {token} & {"and", "or"}
            before = len(clause.words)
            clause.read(token, text.lower() if token == "A" else text)
            chooses |= clause.chooses
            if only and not limited and len(clause.words) > before:
                limited = clause.words[-1].stem
    clause.end()
    words += clause.ordered()
    placed = tuple(replace(word, place=i) for i, word in enumerate(words))
    return SignedText(placed, chooses, only, listed=bool(joins), limited=limited, joins=frozenset(joins))


class _Clause:
    """A clause that is being read: its words, and the sign and role of the next one."""

    def __init__(self, part: int, names: set[str], quoted: frozenset[str]) -> None:
        self.words: list[Word] = []
        self.part, self.names, self.quoted = part, names, quoted
        self.sign, self.denied, self.chooses, self.prefers = 1, 1, False, False
        self.role: Role = "head"
        self.lead, self.contrasted, self.lacking, self.fresh = "", False, False, False
        self.chosen_filler = self.under = self.verb = ""

    def read(self, token: str, text: str) -> None:
        """Read a token: a mark changes the sign, a function word the role, and the others are words."""
        contrasts = (token == "over" and self.chooses) or (token == "to" and self.prefers and self.words)
        if token in _SCOPING:
            self.end()
        self.chosen_filler, earlier = "", self.chosen_filler
        if token in "⊝⊖⊘⊕⊙" or contrasts:
            self._mark(token)
        elif token in _SCOPING:
            self._scope(token)
        elif token in _CHOOSING:
            self.chooses, self.role = True, "value"
            self.verb = token if self.words else ""
            self.prefers = token.startswith(("prefer", "favo"))
        elif token in _VALUING:
            self._value(token)
        elif token in ("and", "or") or token in _BINDING:
            self._bind(token)
        elif token not in _fillers() or token in self.quoted:
            self._add(stem_of(token), token, text)
        else:
            if token in _TRANSITIVE and self.words:
                self.verb = token
            if self.chooses and not self.words:
                self.chosen_filler = "" if earlier else token

    def end(self) -> None:
        """What is chosen may be a word that says nothing elsewhere: "never use any in tests"."""
        if self.chosen_filler:
            self._add(self.chosen_filler, self.chosen_filler, "")
            self.chosen_filler = ""
        if self.denied < 0:
            self._turn_limits()

    def _turn_limits(self) -> None:
        """Write "never more than 3" as "at most 3"."""
        limits = [word for word in self.words if word.lead in _LIMITS and word.sign < 0 and not word.lacking]
        if len(limits) == 1 and not any(word.contrasted for word in self.words):
            lead = _LIMITS[limits[0].lead]
            self.words = [
                replace(word, sign=abs(word.sign), lead=lead if word is limits[0] else word.lead)
                for word in self.words
            ]
            self.sign = self.denied = 1

    def _bind(self, token: str) -> None:
        """The next member of a list, or what belongs to the word before."""
        if token in _BINDING:
            self.under = token
        else:
            self.part += 1

    def _scope(self, token: str) -> None:
        """Where it applies is neither asked for nor rejected, unless the place itself is: "but not in tests"."""
        if self.role == "reason":
            return
        expresses = token == "in" and bool(self.words) and self.words[0].stem in _EXPRESSING
        # "prefer return codes in callbacks", "format dates as ISO in invoices"
        placed = self.chooses or self.contrasted or any(word.lead in ("as", "in") for word in self.words)
        expresses &= self.fresh or not placed
        expresses |= token == "in" and self.lead in _BEING  # "names are in snake_case"
        excludes = self.lead in EXCLUDING  # "except in tests"
        self.role = "value" if expresses and not excludes else "scope"
        self.lead = self.lead if excludes else token
        if self.role == "scope" and not self.fresh:
            self.sign, self.contrasted, self.lacking = 1, False, False
        self.fresh = False

    def _value(self, token: str) -> None:
        if self.lead in EXCLUDING:
            return
        self.role = "value" if self.role != "reason" else "reason"
        self.lead, self.verb = token, ""

    def _mark(self, token: str) -> None:
        if token == "⊝":
            # "Passwords must not be logged" rejects what stands before the denial too.
            again = self.denied < 0  # "never let them skip it" asks for it
            self.words = [
                word if word.role == "scope" else replace(word, sign=-word.sign if again else -1)
                for word in self.words
            ]
            self.sign = self.denied = 1 if again else -1
            return
        if token in ("⊖", "over", "to"):
            self.sign, self.contrasted, self.fresh, self.prefers = -self.denied, True, True, False
            if self.role == "scope":
                self.role = "value"
        elif token == "⊘":
            self.sign, self.lacking, self.fresh = -self.sign, True, True
        elif token == "⊕":
            self.sign = 1
        else:
            self.role = "reason"

    def _add(self, stem: str, token: str, text: str) -> None:
        if token in ORDERING:
            self.lead, self.role = "", "plain" if self.role != "reason" else "reason"
        if token in _PURPOSES and self.words and (self.lead == "to" or self.fresh):
            self.role, self.sign, self.contrasted = "reason", 1, False
        proper = text in self.names
        word = Word(
            stem,
            text or token,
            self.sign,
            self.role,
            self.lead,
            self.part,
            self.contrasted,
            self.lacking,
            proper,
            under=self.lead or self.under,
            verb=self.verb,
        )
        self.words.append(word)
        self.under, self.verb = word.under, ""
        self.role = "plain" if self.role == "head" else self.role
        self.lead, self.fresh = "", False

    def _join_delay(self) -> None:
        """Write "after 30 minutes", which orders no acts, as a phrase."""
        for after, word in zip(self.words, self.words[1:], strict=False):
            if after.stem == "after" and _QUANTITY.fullmatch(word.stem):
                at = self.words.index(after)
                self.words[at : at + 2] = [replace(word, lead="after", role="value", under="after")]
                break

    def ordered(self) -> list[Word]:
        """The words, with "B after A" as "A before B"."""
        self._join_delay()
        stems = [word.stem for word in self.words]
        if stems.count("after") != 1 or "before" in stems:
            return self.words
        place = stems.index("after")
        before = replace(self.words[place], stem="before", text="before")
        verb = place > 1 and self.words[0].role == "head"
        return [*self.words[:verb], *self.words[place + 1 :], before, *self.words[verb:place]]
