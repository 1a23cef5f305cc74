"""A step of a procedure, or its title, as words: stems with a sign and a role, and phrases as one word.

It reads words more strictly than ``text.corrections.polarity`` reads rules: "Stop the server" asks for something
here, and each word counts that is not in a list of fillers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from priming.config.values import dataclass
from priming.sleep.procedures.synonyms import CODE, NUMBER, ORDERING, phrasal_synonyms, senses_of, step_stem
from priming.text.word_lists import read_rewritings, read_words

READ = 1_000
"""Characters of a step that are compared."""
_CACHED = 1 << 14

_TOKEN = re.compile(
    r"--?[a-z][\w-]*|[<>!=]=|&&|\|\||[<>≤≥|^~$€£¥]|[+−-](?=\d)|[~.]?/?[^\W_]\w*(?:[./:@\\_+&=*'’-]+\w+)*(?:\+\+|#|%)?|%|[.;:!?]+(?=\s|$)|,|\n",
    re.IGNORECASE,
)
_BREAK = re.compile(r"^(?:[.;:!?]+|,|\n)$")
_QUANTITY = re.compile(r"^(\d+(?:[.,]\d+)*)([a-zµ°%]{1,3})$")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
_POSSESSIVE = re.compile(r"['’]s?\b")
_TITLE = re.compile(
    r"^\s*(?:how ?to|how do (?:i|we|you)|(?:steps|procedure|instructions|guide|checklist|runbook|recipe|playbook) (?:to|for|of))\b[\s:]*",  # noqa: E501
    re.IGNORECASE,
)
_MARKER = re.compile(r"^\s*(?:(?:step\s+)?\d{1,3}[.):]\s+|[-*•]\s+)", re.IGNORECASE)
_OPENING = re.compile(
    r"^\s*(?:and )?(?:(?:first|second|third|next)(?:ly)?,|(?:then|finally|lastly|afterwards|after that),?)\s+",
    re.IGNORECASE,
)
_PHRASES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in read_rewritings("step_phrases")
)
_APART = frozenset(("on", "off", "up", "down", "in", "out", "back", "away", "over"))
"""The particles that may follow the object: "turn the pump off"."""
_PARTICLES = _APART | {"through", "into", "at", "to", "for"}
_AFTER_PARTICLE = frozenset(
    """of for with again and then when at if once before after until slowly by to from via using immediately now
    as""".split()  # noqa: SIM905
)
_DETERMINERS = frozenset("the a an your my our its this that these those each every all no".split())  # noqa: SIM905
_SEPARATORS = frozenset(("and", "or", "then", "&", "plus"))
_SCOPES = {
    word: scope
    for words, scope in (
        (("all", "each", "every", "both"), "all"),
        (("some", "any", "a", "an", "one", "several", "this", "that"), "part"),
    )
    for word in words
}
_POINTS = {
    word: whose
    for words, whose in (
        (("my", "our", "i", "we"), "the speaker's"),
        (("your", "you"), "the reader's"),
        (("his",), "his"),
        (("her",), "hers"),
        (("its",), "its own"),
        (("their",), "theirs"),
        (("this", "these"), "near"),
        (("that", "those"), "far"),
    )
    for word in words
}
"""What a determiner or a subject points at: whose thing or act it is, or which."""
_FAR = 6
"""Maximum number of words between a verb and its particle."""
_NOT = frozenset(
    """not never no dont don't don’t doesnt doesn't doesn’t cannot cant can't can’t isnt isn't isn’t mustn't mustn’t
    shouldn't shouldn’t won't won’t avoid without except insteadof neither nor skip unless""".split()  # noqa: SIM905
)
_ROLES = {
    "from": "source", "off": "source",
    "to": "goal", "into": "goal", "onto": "goal", "towards": "goal", "against": "goal",
    "with": "means", "by": "means", "via": "means", "using": "means", "through": "means",
    "for": "for", "as": "as",
    "in": "place", "on": "place", "at": "place", "inside": "place", "under": "under", "over": "over",
}  # fmt: skip
_STANDING = _NOT | _ROLES.keys() | {"always"}
"""Words that are values of their own at the end of a clause, or before a noun."""
_UNITS = {
    "ms": "millisecond", "s": "second", "sec": "second", "secs": "second", "min": "minute", "mins": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour", "d": "day", "ml": "ml", "l": "litre", "g": "g", "kg": "kg", "mg": "mg",
    "µl": "µl", "c": "degree", "°c": "degree", "%": "percent", "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb",
    "gram": "g", "grams": "g", "kilogram": "kg", "kilograms": "kg", "milligram": "mg", "milligrams": "mg",
    "litres": "litre", "liter": "litre", "liters": "litre", "celsius": "degree",
    "millilitre": "ml", "millilitres": "ml", "milliliter": "ml", "milliliters": "ml",
    "gigabyte": "gb", "gigabytes": "gb", "megabyte": "mb", "megabytes": "mb",
}  # fmt: skip
_TO_TWENTY = [
    *"zero one two three four five six seven eight nine ten eleven twelve".split(),  # noqa: SIM905
    *"thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),  # noqa: SIM905
]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred".split()  # noqa: SIM905
_DIGITS = {word: str(number) for number, word in enumerate(_TO_TWENTY)} | {
    word: str(10 * number) for number, word in enumerate(_TENS, start=2)
}


@dataclass(frozen=True, slots=True)
class StepWord:
    """A word of a step: its stem, as it was written, whether it is asked for (1) or rejected (-1), and its role.

    ``senses`` are the groups of synonyms that the stem is in. ``place`` is the word's place among all words of the
    step, and ``item`` its place in an enumeration such as "users, orders and items". ``determiner`` is the last one
    before it that says how many or whose. ``is_prose`` is whether an article follows: none follows a program's name.
    """

    stem: str
    text: str
    sign: int
    role: str
    senses: frozenset[int] = frozenset()
    place: int = 0
    item: int = 0
    determiner: str = ""
    is_prose: bool = False

    @property
    def scope(self) -> str:
        """Whether it is about all, or about one or some; empty if no word says so."""
        return _SCOPES.get(self.determiner, "")

    @property
    def points_at(self) -> str:
        """Whose thing it is, or which; empty if no word says so."""
        return _POINTS.get(self.determiner, "")

    @property
    def is_code(self) -> bool:
        """Whether it is a number, a path, an option or another name in code."""
        return bool(CODE.search(self.stem))


@lru_cache(maxsize=_CACHED)
def read_step(text: str) -> tuple[StepWord, ...]:
    """Read a step as words.

    >>> [word.stem for word in read_step("Turn the pump off for 30s, and write it down.")]
    ['turn_off', 'pump', '30', 'second', 'write_down']
    """
    plain = text[:READ].replace("`", " ").replace('"', " ").replace("“", " ").replace("”", " ")
    plain = _OPENING.sub("", _TITLE.sub("", _MARKER.sub("", plain)))
    for pattern, replacement in _PHRASES:
        plain = pattern.sub(replacement, plain)
    return tuple(_words(_joined(_tokens(plain))))


def _tokens(text: str) -> list[str]:
    """The tokens in lower case; names with a capital inside a sentence keep it, unless most words have one."""
    tokens = _TOKEN.findall(text)
    words = [token for token in tokens if token[0].isalpha() and len(token) > 1][1:]
    shouting = sum(word[0].isupper() for word in words) > max(1, len(words) / 2)
    lowered: list[str] = []
    begins = True
    for token in tokens:
        if _BREAK.match(token):
            lowered.append(token)
            begins = True
            continue
        bare = _POSSESSIVE.sub("", token)
        if lowered and NUMBER.match(lowered[-1]) and bare.casefold() in _UNITS:
            lowered.append(_UNITS[bare.casefold()])
            continue
        is_name = bare[:1].isupper() and not begins and not shouting and not CODE.search(bare)
        lowered += _parts(bare if is_name else bare.casefold())
        begins = False
    return lowered


def _parts(token: str) -> Iterator[str]:
    """A token in normal form: "30s" as "30 second", words joined by a hyphen as one word, number words as digits."""
    quantity = _QUANTITY.match(token)
    if quantity and quantity[2] in _UNITS:
        yield quantity[1]
        yield _UNITS[quantity[2]]
    else:
        yield _DIGITS.get(token, _HYPHEN.sub("", token))


def _joined(tokens: Sequence[str]) -> list[str]:
    """The tokens with phrasal verbs as one: "shut … down" as "shut_down …"."""
    joined: list[str] = []
    verb: int | None = None
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else "."
        previous = tokens[place - 1] if place else ""
        noun = previous in _DETERMINERS
        if token in _PARTICLES and verb == len(joined) - 1 and f"{previous}_{token}" in _phrasal():
            joined[-1] = f"{previous}_{token}"
            verb = None
            continue
        if (
            verb is not None
            and token in _APART
            and previous not in _ROLES
            and len(joined) - verb <= _FAR
            and (_BREAK.match(following) or following in _AFTER_PARTICLE)
        ):
            joined[verb] = f"{joined[verb]}_{token}"
            verb = None
            continue
        if _BREAK.match(token):
            verb = None
        elif token in _phrasal_verbs() and not noun:
            verb = len(joined)
        joined.append(token)
    return joined


def _words(tokens: Sequence[str]) -> Iterator[StepWord]:
    """Each token that is not a filler, with its sign, its role and its item."""
    sign, role, item, determiner = 1, "object", 0, ""
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else "."
        previous = tokens[place - 1] if place else ""
        determiner = token if token in _SCOPES or token in _POINTS else determiner
        item += token in _SEPARATORS or bool(_BREAK.match(token))
        if token in _STANDING and (_BREAK.match(following) or previous in ("the", "an")):
            yield StepWord(
                token, token, sign, role, place=place, item=item
            )  # "set it to off", "the off button"
        elif _BREAK.match(token) or token == "but":
            sign, role = 1, "object"
        elif token in _NOT:
            sign = -1
        elif token in _ROLES:
            role = _ROLES[token]
        elif token in _fillers() and not (token == "a" and _is_name(previous, following)):
            continue
        else:
            root, part = step_stem(token), "order" if token in ORDERING else role
            prose = following in _DETERMINERS
            yield StepWord(root, token, sign, part, senses_of(root), place, item, determiner, prose)
            determiner = ""
            if token in ORDERING:
                role = f"after {token}"


def _is_name(previous: str, following: str) -> bool:
    """Whether "a" is a name: an article stands before the word that it belongs to."""
    ends = bool(_BREAK.match(following)) or following in _SEPARATORS or following in _ROLES
    return (
        ends or (len(following) == 1 and following.isalpha()) or (len(previous) == 1 and previous.isalpha())
    )


@cache
def _fillers() -> frozenset[str]:
    return frozenset(read_words("step_fillers"))


@cache
def _phrasal_verbs() -> frozenset[str]:
    return frozenset(read_words("phrasal_verbs"))


@cache
def _phrasal() -> frozenset[str]:
    """Verbs with a particle next to them."""
    return frozenset(
        {f"{verb}_{particle}" for verb in _phrasal_verbs() for particle in _APART}
        | set(read_words("step_particles"))
        | phrasal_synonyms(_PARTICLES)
    )
