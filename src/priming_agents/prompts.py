"""What a prompt asks for beyond the moment: a rule in plain words is learned, what may be one is asked about.

Nothing is learned by guessing, or from other people's words: the agent reads the same prompt and can call ``learn``.
So a doubt costs a line, and a wrong rule would be followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from priming.config.values import dataclass
from priming_agents.limits import HOOK

_SENTENCE = re.compile(r".+?(?:(?<![.\s]\w)[.!?…]+(?=\s|$)|;\s|\s[–—-]\s|$)", re.MULTILINE)
_CLAUSE = re.compile(r"(?<!never)[,:] |,? so (?=no\b|never|don|please|always|use)", re.IGNORECASE)
_REQUEST = re.compile(r"\b(?:you|we)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ANYTHING = re.compile(r" (?:anything|anyone)(?: else)?$", re.IGNORECASE)
_MARK = re.compile(r"[\"“”„«»\[\]]|/(?!\w)")
"""What shows that words are a quotation, a key or a folder, and is no part of them."""
_LETTERS = 5
"""So many letters of two stems are alike where the words are of one, in either language."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction by a person: what to do, and what was done instead."""

    right: str
    wrong: str | None = None


@dataclass(frozen=True, slots=True)
class PromptReading:
    """What a prompt asks for in the long run.

    ``correction`` is learned as it stands; ``asks``: whether more of it may be a rule; ``objects``: whether it finds
    fault; ``inquires``: whether it asks for an answer; ``withdrawals`` are sentences that withdraw a rule,
    ``statements`` those that may contradict one; what is learned is placed beside the rest.
    """

    correction: Correction | None = None
    asks: bool = False
    objects: bool = False
    inquires: bool = False
    withdrawals: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()

    @property
    def is_silent(self) -> bool:
        """Whether it neither teaches nor objects to anything."""
        return not (self.correction or self.asks or self.objects or self.withdrawals)


@lru_cache(maxsize=8)
def read_prompt(text: str) -> PromptReading:
    """Read a prompt.

    >>> read_prompt("No, use pathlib instead of os.path.").correction
    Correction(right='Use pathlib instead of os.path', wrong='os.path')
    >>> read_prompt("We keep fixtures in tests/data here").asks, read_prompt("Use pathlib in the new module").asks
    (True, False)
    """
    sentences = list(_sentences(text[: HOOK.read]))
    inquires = any(_is_question(plain) or _has("task", plain) for _, plain in sentences)
    is_short = len(_WORD.findall(text)) <= HOOK.teaching and len(text) <= HOOK.read
    asks, objects, objected, answers, correction = False, False, False, False, None
    withdrawals, statements = [], []
    for own, plain in sentences:
        begin = _start(plain)
        if _REQUEST.search(plain[:begin]):
            own, plain = own.rstrip("?"), plain.rstrip("?")
        body = plain[begin:]
        answers = answers or _is_question(body)
        finds_fault = _has("objection", plain[:begin]) or _has("fault", plain) or _has("reproach", body)
        may_last = _has("fault", plain) or _may_last(body, objected or finds_fault, inquires)
        rule = _rule(own[begin:], objected or finds_fault) if may_last and is_short else None
        names_rule = _has("rule", plain) and not (may_last or _is_question(plain))
        is_learned = rule is not None and correction is None  # then the judge sees what it takes the place of
        if names_rule or _has("withdrawal", plain) or (_has("expired", plain) and not is_learned):
            withdrawals.append(own)
        elif not (is_learned or _is_question(plain) or _has("reported", plain)):
            statements.append(own[begin:])
        asks = asks or (may_last and not is_learned)
        correction = correction or rule
        objects, objected = objects or finds_fault, finds_fault
    return PromptReading(correction, asks, objects, answers, tuple(withdrawals), tuple(statements))


def is_understood(text: str) -> bool:
    """Tell whether a prompt is in one of the languages whose wishes are read here, or too short to tell.

    >>> is_understood("Fix the parser, then run pytest"), is_understood("Utilise toujours pnpm dans ce dépôt")
    (True, False)
    """
    from priming.text.statements.phrases import is_read

    return is_read(_class("foreign").sub("", text[: HOOK.read]))


def withdrawn(sentence: str, rules: Sequence[str]) -> tuple[list[str], bool]:
    """Return the rules that a sentence may withdraw, the nearest; and whether it is an order to, about nothing else.

    >>> withdrawn("Scrap the rule about signing commits, it slows us down", ["Sign every commit", "Use tabs"])
    (['Sign every commit'], True)
    """
    shared = {rule: len(_topic(sentence) & _topic(rule)) for rule in rules}
    most = max(shared.values(), default=0)
    nearest = [rule for rule in rules if most and shared[rule] == most]
    order = sentence[_start(sentence) :]
    clause = _CLAUSE.split(order)[0]  # what follows may give its reason: "nobody reads it"
    is_doubtful = _is_question(order) or any(_has(each, order) for each in ("once", "reported"))
    is_order = _begins("withdrawal", order) and not (is_doubtful or _has("banned", clause))
    topic = _topic(clause)
    return nearest, is_order and bool(topic and nearest) and topic <= _topic(nearest[0])


def names_nothing(text: str) -> bool:
    """Tell whether a text is about nothing by name, such as "Forget that."."""
    return not _topic(text)


def contradicted(statement: str, rules: Sequence[str]) -> list[str]:
    """Return the rules whose opposite a statement says, or another value; in part, if it is about all that they are.

    >>> contradicted("Deploy on Fridays only with approval", ["Never deploy on Fridays", "Never deploy on Mondays"])
    ['Never deploy on Fridays']
    """
    topic = _topic(statement)
    return [rule for rule in rules if topic & _topic(rule) and _contradicts(statement, rule)]


def _contradicts(statement: str, rule: str) -> bool:
    from priming.text.statements.judge import judge
    from priming.text.statements.reader import is_event, read

    kind = judge(rule, statement).kind
    if kind != "unclear" or is_event(statement) or not _topic(rule) <= _topic(statement):
        return kind == "changes"
    signs = {word.stem: word.sign for word in read(rule).words}
    return any(signs.get(word.stem, word.sign) != word.sign for word in read(statement).words)


@lru_cache(maxsize=4_096)
def _topic(text: str) -> frozenset[str]:
    """Return what a text is about: the beginnings of its stems, and the questions that they answer."""
    from priming.text.statements.judge import subjects

    names = subjects(_class("light").sub(" ", _MARK.sub(" ", text)))
    return frozenset(name if name.startswith("question ") else name[:_LETTERS] for name in names)


@cache
def _classes() -> Mapping[str, str]:
    table: dict[str, str] = {}
    for line in Path(__file__).with_name("prompts.txt").read_text("utf-8").splitlines():
        name, colon, pattern = line.partition(": ")
        if colon and not line.startswith("#"):
            table[name] = f"{table[name]}|{pattern}" if name in table else pattern
    return table


@cache
def _class(name: str) -> re.Pattern[str]:
    """Return the pattern of a class of ``prompts.txt``: words, or the whole of a form."""
    pattern = re.sub(r"(?<=\w)'(?=\w)", "['’]?", _classes()[name])
    is_form = name in ("foreign", "quoted", "question", "subordinate", "ending", "frame", "weighing")
    words = pattern if is_form else rf"(?<![\w'’/.-])(?:{pattern})(?![\w/])"
    return re.compile(words, re.IGNORECASE | re.MULTILINE | (re.DOTALL if name == "foreign" else 0))


def _has(name: str, text: str) -> bool:
    return _class(name).search(text) is not None


def _begins(name: str, text: str) -> bool:
    return _class(name).match(text) is not None


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sentences of the user's own words, each as it is written and with what it quotes blotted out."""
    own = _class("foreign").sub("", text)
    plain = _class("quoted").sub(lambda match: "x" * len(match[0]), own)
    for match in _SENTENCE.finditer(plain):
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        yield own[start : match.end()].rstrip(), plain[start : match.end()].rstrip()


@cache
def _openers() -> re.Pattern[str]:
    """Return the objections and the polite words with which a sentence begins."""
    no, polite = (_class(name).pattern for name in ("objection", "polite"))
    no = rf"(?:{no}|{_class('fault').pattern})(?: ?[,.:;!?–—-]+\s*| (?=(?:no|wait)\b)|$)"
    return re.compile(rf"(?:{no}|{polite}[,.:;!]*(?:\s+|$))*", re.IGNORECASE)


def _start(plain: str) -> int:
    """Return where a sentence begins after objections and polite words."""
    return len(_openers().match(plain)[0])  # type: ignore[index]


def _is_question(plain: str) -> bool:
    return plain.endswith("?") or any(_begins("question", part) for part in _CLAUSE.split(plain))


def _may_last(plain: str, objected: bool, inquires: bool) -> bool:
    """Tell whether a sentence may ask for something beyond the moment."""
    complains = _has("reproach", plain)
    if _is_question(plain):
        return _begins("grounds", plain) and (complains or _has("lasting", plain))
    if complains or _has("reported", plain) or _has("lasting", plain):
        return complains or not _has("reported", plain)
    starts = [0, *(match.end() for match in _CLAUSE.finditer(plain))]
    return any(_is_lasting(plain[start + _start(plain[start:]) :], objected, inquires) for start in starts)


def _is_lasting(rest: str, objected: bool, inquires: bool) -> bool:
    """Tell whether a clause, with what follows it, is no affair of the moment: an instruction, a wish or a custom."""
    clause = _CLAUSE.split(rest)[0].strip(" .!")
    head = _class("subordinate").split(clause)[0]
    if _has("once", head) or _is_question(rest):
        return False
    if wish := _class("wish").search(clause):
        return not _begins("definite", clause[wish.end() :].lstrip())
    if _has("unreal", rest) or len(_WORD.findall(head)) < 2:
        return False
    weighs = any(_has("weighing", each.rstrip(" .!")) for each in (clause, rest))
    is_said = _begins("address", head) or (_begins("condition", rest) and not inquires)
    return (
        is_said
        or _is_instruction(head, clause, objected, weighs)
        or _is_custom(head, objected, weighs, inquires)
    )


def _is_instruction(head: str, clause: str, objected: bool, weighs: bool) -> bool:
    """Tell whether a clause in the imperative asks for, or forbids, what is done every time."""
    if _begins("banned", head):
        return True
    own_verb, _, rest = head.partition(" ")
    rest = rest[_start(rest) :]
    thing = rest.partition(" ")[2]
    if (
        thing and _begins("verb", own_verb) and _begins("banned", rest)
    ):  # "use no globals", "nimm bitte kein Docker"
        return not _begins("definite", thing)
    negative = _class("negative").match(head)
    verb = negative or re.match(r"(?:always|immer|stets)\b", head, re.IGNORECASE)
    act = clause[verb.end() :].strip() if verb else head
    words = act.split()
    if not words or _begins("state", act) or (not negative and _is_statement(act)):
        return False
    is_definite = _begins("definite", " ".join(words[1:3])) or len(words) < 2
    if verb:
        return objected or not is_definite or _has("ever", clause)
    if _has("repeated", head):
        return False
    if _begins("verb", head) and (_begins("general", head) or (objected and not is_definite)):
        return True
    return weighs and not is_definite and not _begins("joined", head)


def _is_custom(head: str, objected: bool, weighs: bool, inquires: bool) -> bool:
    """Tell whether a clause in the indicative says how things are done, or are, whenever they are."""
    words = head.split()
    if habit := re.match(
        r"(?:i|we|wir) (?:(?:always|never|only|don['’]?t|do not) )?(?P<verb>\w+)", head, re.I
    ):
        is_habit = not _begins("state", habit["verb"]) and not habit["verb"].endswith("ed")
        often = weighs or re.search(r"\b(?:always|never|only|don['’]?t|do not|here)\b|days\b", head, re.I)
        return is_habit and not _has("passing", head) and bool(not inquires or (often and head[0] in "wW"))
    says = _is_statement(head) or (_has("ever", head) and not _begins("ever", head))
    if not says or _begins("someone", head) or _begins("verb", head):
        return False
    if objected or weighs:
        return len(words) > 2
    return not (
        inquires or len(words) < 4 or _has("passing", head) or re.search(r"\b(?:is|are) [a-z]+$", head)
    )


def _is_statement(clause: str) -> bool:
    """Tell whether a clause has a subject before its verb."""
    words = clause.split()
    is_third = len(words) > 2 and any(word.endswith("s") and len(word) > 3 for word in words[:2])
    is_noun = is_third or _begins("subject", clause) or _has("modal", clause)
    return is_noun and not _begins("verb", clause)


def _is_manner(act: str, plain: str) -> bool:
    """Tell whether an act is how things are done each time: not of somebody, a file, or a thing with a number."""
    from priming.text.languages import language_of
    from priming.text.word_lists import is_given_name

    words = plain.split()
    is_particular = any(language_of(word) or is_given_name(word.rstrip("'’s")) for word in words[1:])
    return _begins("manner", act) and not (is_particular or _has("particular", plain))


def _rule(own: str, objected: bool) -> Correction | None:
    """Return the rule that a sentence is, if it stands in plain words and needs no other sentence."""
    text, ended = _class("ending").subn("", own.rstrip(" .!,"))
    frame = _class("frame").match(text)
    text = re.sub(r"^not to ", "Do not ", text[frame.end() :] if frame else text)
    text = re.sub(r"^(?:i|we)(?:['’]d| would)?(?: much| really)? prefer (?=\w)", "Prefer ", text, flags=re.I)
    plain = _class("quoted").sub("x", text)
    first, *others = _CLAUSE.split(plain)
    negative = _class("negative").match(first)
    verb = negative or re.match(r"(?:always|we (?:always|never)) ", first, re.IGNORECASE)
    act = first[verb.end() :].strip() if verb else first
    weighing = _class("weighing").search(text)
    is_act = _begins("verb", act) or (negative is not None and not _has("ever", negative[0][:5]))
    prefers = weighing is not None and act.lower().startswith("prefer")
    # A person also repeats a request of the moment: "I told you to open the file".
    is_request = frame and not verb and own[:2] in ("I ", "i ") and _begins("definite", act.partition(" ")[2])
    # "Every time" lasts where it says so of the verb: not in "write a test that never fails", or "for Mondays".
    # "Don't delete anything" may be of the moment, where no case follows: "don't book anything before ten".
    often = _has("ever", _ANYTHING.sub("", plain)) if negative else verb or _begins("general", plain)
    stops = re.match(r"(?:stop|quit|avoid)\b(?!.* the\b)", plain, re.I)
    lasts = frame or ended or often or prefers or stops or (objected and _is_manner(act, plain))
    is_repeated = not negative and _has("repeated", own)
    is_part = is_request or is_repeated or text.endswith(":") or (negative and " and " in text)
    is_whole = not is_part and all(_begins("joined", part) or _begins("verb", part) for part in others)
    if not (is_act and lasts and is_whole and " " in act):
        return None
    is_vague = _has("vague", plain) or _has("once", plain) or _is_question(plain)
    if is_vague or len(_WORD.findall(text)) > HOOK.rule_words:
        return None
    return Correction(text[0].upper() + text[1:], weighing["wrong"].strip(" .!`'\"") if weighing else None)
