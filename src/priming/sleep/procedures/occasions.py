"""Whether the trigger of a lesson and an objective are about the same action on the same thing.

A trigger often tells what happened: "the module does not compile". Its negation is then the failure, and the action
is the one that failed; it forbids nothing, as "do not compile the module" does.
"""

from __future__ import annotations

import re
from itertools import pairwise

from priming.sleep.procedures.demands import demands, rejects
from priming.sleep.procedures.synonyms import step_stem
from priming.sleep.procedures.words import read_step
from priming.text.tokens import terms

_VERSION = re.compile(r"(?<!\d)\d+(?:\.\d+)+")
_CLAUSE = re.compile(r"(?:[.:;!?,](?=\s|$)|\n|\s(?:but|because|although|though|while)\b)")
_AUXILIARY = r"(?:do|does|did|is|are|was|were|am|be|been|has|have|had|can|could|will|would)"
_OBSERVED = re.compile(
    rf"\b(?:{_AUXILIARY}(?:\s+(?:not|never)|n['’]?t)|cannot|can['’]?t|wo(?:n['’]t|nt)|ain['’]t|no\s+longer|never"
    r"|(?:is|are|was|were)\s+(?:un|not\s+)able\s+to|unable\s+to|(?:fail|refuse)(?:s|ed|d)?\s+to|not|no|neither|nor)\b\s*(?:yet\s+|be\s+(?=\w+ed\b))?",
    re.IGNORECASE,
)
"""Words that negate what happens or is the case."""
_FORBIDS = re.compile(
    r"^\W*(?:(?:please|then|and|so|also|always|just|if|you|we|let['’]?s|no)\s+)*(?:do\s+not|do\s*n['’]?t|not|never(?!\s+\w+(?<!s)s\b)"
    r"|avoid|skip|stop|refrain)\b"
    r"|\b(?:must|should|shall|may|ought|need|better)\s*(?:not|never|n['’]?t)\b"
    r"|\b(?:and|or|but|then|to)\s+(?:do\s+not|don['’]?t|never)\b|\b(?:not|never)\s+to\b|\blet\s+\w+\s+not\b",
    re.IGNORECASE,
)
"""Clauses that forbid something: negated imperatives, and rules."""
_OTHER = (
    "other|another|second|third|fourth|secondary|new|newer|newest|old|older|oldest|former|previous|next|latter"
    "|different|alternative|alternate|spare|remaining|last|first"
)
_TARGET = re.compile(
    rf"\b(?P<whose>(?:the|this|that|these|those|my|our|your|his|her|its|their|an?)\s+)?(?P<which>{_OTHER})\s+"
    r"(?P<name>(?:[^\W_][\w-]*\s+)?[^\W_][\w-]*)",
    re.IGNORECASE,
)
_MAKING = frozenset(
    step_stem(word)
    for word in (
        *("add", "append", "build", "buy", "create", "define", "design", "draft", "generate", "implement"),
        *(
            "insert",
            "introduce",
            "invent",
            "make",
            "open",
            "order",
            "plan",
            "prepare",
            "provision",
            "register",
        ),
        *("start", "write", "begin", "draw", "hire", "invite", "propose", "set_up", "try"),
    )
)
"""Verbs whose object does not exist before: "add a new test" means "add a test"."""


def observed(text: str) -> str:
    """A text without the negations that tell what happened; those that forbid something stay.

    >>> observed("The kernel module does not compile: no headers")
    'The kernel module compile: headers'
    >>> observed("Never deploy on a Friday")
    'Never deploy on a Friday'
    """
    return _without_observations(text, "")


def _without_observations(text: str, instead: str) -> str:
    ends = [*(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    clauses = [text[begin:end] for begin, end in pairwise((0, *ends))]
    return "".join(c if _FORBIDS.search(c) else _OBSERVED.sub(instead, c) for c in clauses)


def rejects_trigger(objective: str, trigger: str) -> bool:
    """Whether an objective rejects the action of a trigger, or asks for what the trigger forbids.

    >>> rejects_trigger("Compile the kernel module", "The kernel module does not compile")
    False
    >>> rejects_trigger("Do not compile the kernel module", "The kernel module does not compile")
    True
    """
    action = observed(trigger)
    if not rejects(objective, action):
        return False
    return action == trigger or observed(objective) == objective or rejects(objective, trigger)


def warns_of(trigger: str, objective: str) -> bool:
    """Whether a trigger forbids, or tells the lack of, what an objective asks for.

    >>> warns_of("Never deploy on a Friday", "Deploy on Friday")
    True
    """
    against = {word.stem for word in read_step(observed(trigger)) if word.sign < 0}
    return bool(against & {word.stem for word in read_step(objective) if word.sign > 0})


def covers(trigger: str, objective: str) -> bool:
    """Whether one of two texts has all terms of the other, at least two, and names no other version or target."""
    first, second = set(terms(trigger)), set(terms(objective))
    if not first or not second:
        return False
    versions, other_versions = (set(_VERSION.findall(text)) for text in (trigger, objective))
    if versions and other_versions and versions.isdisjoint(other_versions):
        return False
    shared = first & second
    return first == second or (len(shared) > 1 and shared in (first, second))


def names_other_target(trigger: str, objective: str) -> bool:
    """Whether one of two texts says of a thing that both name that it is another: "the other registry".

    >>> names_other_target("Push to the registry", "Push to the old registry")
    True
    >>> names_other_target("Add a test", "Add a new test")
    False
    """
    shared = set(terms(trigger)) & set(terms(objective))
    left, right = (_targets(text, shared) for text in (trigger, objective))
    return left != right


def asks_for(trigger: str, objective: str) -> bool:
    """Whether the longer of two texts asks for the action of the shorter, or tells that this action failed."""
    if rejects_trigger(objective, trigger):
        return False
    action = observed(trigger)
    if action != trigger and _failing(trigger) & {word.stem for word in read_step(objective)[:1]}:
        return True
    texts = (action, objective) if observed(objective) == objective else (trigger, objective)
    shorter, longer = sorted(texts, key=lambda text: len(set(terms(text))))
    return demands(longer, shorter)


def _failing(trigger: str) -> set[str]:
    """The stems of what a trigger tells not to have happened."""
    plain = {word.stem for word in read_step(observed(trigger)) if word.sign > 0}
    return {word.stem for word in read_step(_without_observations(trigger, "not ")) if word.sign < 0} & plain


def _targets(text: str, shared: set[str]) -> set[tuple[str, str]]:
    """The things that both texts name, each with the word that says which one it is."""
    words = read_step(text)
    makes = bool(words) and words[0].stem in _MAKING
    targets = set()
    for match in _TARGET.finditer(text):
        whose, which = (match["whose"] or "").strip().casefold(), match["which"].casefold()
        if makes and (whose in ("", "a", "an")):
            continue
        targets |= {(which, term) for term in terms(match["name"])[-1:] if term in shared}
    return targets
