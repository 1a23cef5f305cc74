"""What a sentence of a prompt corrects, by patterns: precision first, since agents follow what is learned.

English only.
"""

from __future__ import annotations

import re
from dataclasses import replace

from priming.config.values import dataclass
from priming.text.verbs import infinitive, is_participle

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_MIN_WORDS = 2

_NO = r"(?:no|nope|nah|wrong|incorrect|not quite|hey|ugh|argh)"
_PAUSE = r"(?:wait|hold on)"
_WRONG = (
    r"(?:(?:that|this|it)(?:['’]?s| is| was)(?: still)? (?:wrong|incorrect|not right|not correct"
    r"|not what i (?:said|asked(?: for)?|meant|want(?:ed)?)"
    r"|not how (?:we|i) do (?:it|that|this|things)(?: here)?)"
    r"|you(?:['’]re| are) wrong|not like that"
    r"|i (?:(?:didn['’]?t|did not) (?:say|ask|mean|want)|never (?:said|asked|meant|wanted))[^,.;:]*)"
)
_REPEATED = (
    r"(?:as )?i(?:['’]ve| have)?(?: just)?(?: already)? (?:told|asked|said|mentioned|repeated)"
    r"(?: (?:to )?you)?(?: (?:this|that|it))?(?: (?:before|already|twice|again|many times|earlier))?"
)
_USES = (
    r"(?:use|prefer|call|write|put|import|run|name|choose|pick|install|say|spell|return|pass|mock|test|keep|set|log|raise"
    r"|throw|catch|store|save|read|sort|format|indent|push|commit|merge|rebase|squash|quote|escape|send|declare|define"
    r"|document|cache|wrap|load|follow|go with|stick (?:to|with))"
)
_TUNES = (
    r"(?:wait|set|keep|limit|cap|retry|indent|wrap|round|truncate|cache|allow|leave|poll|sleep|expire|rotate"
    r"|back off)"
)
_OVER = r"(?: over |,? instead of |,? rather than | to |, (?:and )?not )"
_DONT_WORD = r"(?:don['’]?t|do not)"


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


_OPENER = _pattern(
    rf"^(?:(?:{_NO}|{_WRONG}|actually|please|again|sorry|ok(?:ay)?|but|and|so|remember(?: to(?= (?:always|never)))?"
    r"|reminder|note)[,.:;! ]+"
    rf"|{_PAUSE}[,.:;!]+ *"
    r"|how (?:many times|often) (?:do|must) i (?:have to |need to )?(?:say|tell|repeat)[^,.:;]*[,:] *)+"
)
OBJECTION = _pattern(
    rf"^(?:(?:please|ok(?:ay)?|sorry|but|well|actually|hm+),? )*(?:(?:{_NO}|{_PAUSE})(?:[,.:;!]|$)|{_WRONG}\b"
    r"|you (?:keep \w+ing|always forget)\b)"
)
_OBJECTING = _pattern(rf"^(?:{_NO}[,.:;! ]+)*{_WRONG}")
_REPEATED_TO = _pattern(rf"^{_REPEATED}[,:]? (?P<not>not )?to (?P<rest>.+)$")
_REPEATED_THAT = _pattern(
    rf"^{_REPEATED}[,:]? (?:that )?(?P<rest>(?:we|always|never|{_DONT_WORD}|use"
    r"|you (?:should|must|need|never|always|have to|can['’]?t|cannot|may not|are not|aren['’]?t)) .+)$"
)
_REPEATED_CHOICE = _pattern(rf"^{_REPEATED}[,:]? (?P<rest>[^?]+?(?:, not| instead of| rather than) [^,?]+)$")
_FROM_NOW = _pattern(
    r"^(?:from now on|from here on|in (?:the )?future(?! (?:versions?|releases?|we)\b)|going forward",
    r"|for (?:the )?future|(?:for )?next time|as a rule",
    r"|in this (?:repo|repository|project|codebase)|whenever you|every time you|each time you)\b[,:]? *",
)
_UNTIL_CHANGED = _pattern(
    r"^(?:please )?(?P<rest>[a-z].+?),?"
    r" (?:from now on|from here on|going forward|in (?:the )?future|next time|as a rule)[.!]*$"
)
_EVER = _pattern(
    r"^(?:you (?:should|must) |you need to |i (?:want|need) you to |make sure (?:to|you) |let['’]?s |please )?",
    r"(?P<ever>always|never)(?:,? ever)?,?\s+(?P<verb>[a-z]+)\b",
)
_DONT = _pattern(rf"^(?:please )?{_DONT_WORD}\s+(?P<verb>[a-z]+)\b")
_STOP = _pattern(r"^(?:please )?(?:stop|quit) (?P<verb>[a-z]+ing)\b(?P<rest>.*)$")
_AGAIN = _pattern(r"\b(?:ever again|again|any ?more|every time|ever)\b")
_WE = _pattern(
    r"^(?:(?:here|around here|in this (?:repo|project|codebase))[,]? )?",
    rf"we (?:always|never|only|{_DONT_WORD}) (?P<verb>[a-z]+)\b",
)
_WE_USE = _pattern(
    r"^(?:(?:here|around here|in this (?:repo|project|codebase))[,]? )?",
    r"we (?:use|write|put|name|call|import|indent with) ",
    r"[^?]+?(?:,? instead of |,? rather than |,? (?:and )?not )(?P<wrong>[^,;:!?]+?)[.!]*$",
)
_PREFERS = _pattern(
    r"^(?:i|we)(?:['’]d| would)? (?:much |really |strongly )?prefer (?!to\b|that\b|if\b|you\b)",
    rf"(?P<right>[^?]+?){_OVER}",
    r"(?P<wrong>[^,;:!?]+?)[.!]*$",
)
_PREFERS_THAT = _pattern(
    r"^(?:i|we)(?:['’]d| would)? (?:prefer|like|rather) (?:it )?(?:that |if )?you (?:to )?",
    r"(?P<not>not |did not |didn['’]?t )?",
    r"(?P<verb>[a-z]+) (?P<rest>.+?)[.!]*$",
)
_RATHER = _pattern(
    r"^(?:i|we)(?:['’]d| would) rather (?P<verb>[a-z]+) (?P<right>.+?) than (?P<wrong>[^,;:!?]+?)[.!]*$"
)
_SHOULD_HAVE = _pattern(
    r"^you (?:really )?(?:should(?: have|['’]?ve)|ought to have|were supposed to have) (?P<verb>[a-z]+) (?P<rest>.+)$"
)
_SHOULD_NOT_HAVE = _pattern(
    r"^you (?:really )?(?:should(?:n['’]?t| not) have|should never have) (?P<verb>[a-z]+) (?P<rest>.+)$"
)
_SUPPOSED = _pattern(r"^you (?:were|are) (?P<not>not )?supposed to (?!be\b)(?P<rest>.+)$")
_FORGETS = _pattern(
    r"^you (?P<often>keep forgetting|always forget|(?:have |['’]ve )?forg[oe]t(?:ten)?) to ",
    r"(?P<rest>[^,]+?)(?P<again> again)?[.!]*$",
)
_UNWANTED = _pattern(
    r"^i (?:never|don['’]?t ever|do not ever) want (?:to see )?.+|^i (?:don['’]?t|do not) want (?:to see )?any .+"
)
_TUNE = _pattern(rf"^{_TUNES} (?!going\b|on\b|up\b)(?P<rest>\S.+)$")
_HABITUALLY = _pattern(
    r"^(?:store|name|put|write|format|sort|indent|log|raise|throw|keep|spell|quote|escape|mock|cache|wrap|declare|define"
    r"|save|round|return) (?!(?:an?|the|this|that|my|your|it|them|going|on|up|\d+)\b)[a-z]+\b.* \S+$"
)
"""What is done to all of a kind: "store timestamps in UTC", not "write a test"."""
_OUGHT = _pattern(r"^(?:the|our|all|each|every) [^,?]+? (?:should|must|ha(?:s|ve) to|needs? to) .+$")
_NOT_SO = _pattern(r"^(?!i\b|you\b)[^,?]+, not [^,?]+$")
_SO_FAR = _pattern(r"\b(?:since|last|already|ago|anyway)\b")
_UNDERGONE = _words("received seen got gotten noticed heard been had known found felt gone")
"""What nobody does on purpose: "you should have received a mail"."""
_MEANWHILE = _pattern(r", (?:i|we|it|this|that|so)\b")
_HERE = _pattern(r" (?:around |over )?here[.!]*$")
_MORE = _pattern(r"\b(?:more|another|again|please|later)\b")
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
_STATEMENT = _pattern(r"^(?:the|an?|it|its|there|our|my|their|his|her|they|he|she|that|we|i)\b")
"""The beginning of a sentence that states a fact, not a rule."""
_ASKING = _pattern(
    r"^(?:why|how|what|when|where|who|which|can|could|would|should|shall",
    r"|do (?!not\b)|does|did|is|are|was|will)\b",
)
_SOFT = _pattern(rf"^(?:(?:{_NO}|please|ok(?:ay)?|but|and|so|well)[,.:;!]? )+")
_PAUSED = _pattern(rf"^{_PAUSE}[,.:;!]+ *")
_ACTUALLY = _pattern(r"^(?:(?:ok(?:ay)?|hm+|well),? )*actually\b")
_TALK = _pattern(r"^(?:let|thanks?|see|talk|good|great|ok(?:ay)?|maybe|perhaps|if|you|when)\b")
_NUMBER = _pattern(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|hundred)\b"
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


def correction_in(sentence: str, *, objected: bool) -> Correction | None:
    """The correction that a sentence makes; ``objected`` means that the sentence is, or follows, an objection."""
    if sentence.endswith("?"):
        return None
    if _PAUSED.match(sentence):  # what is meant for now
        rule = correction_in(_PAUSED.sub("", sentence), objected=True)
        return rule and replace(rule, certain=False)
    habit = _habit(_SOFT.sub("", sentence))
    if habit is not None:
        return habit
    body = _OPENER.sub("", sentence).strip()
    stated = _repeated(body) or _reproach(body) or _preference(body) or _from_the_end(body)
    if stated is not None:
        return stated
    opener = _FROM_NOW.match(body)
    if opener is not None:
        return _from_now_on(body, opener)
    lasting = _lasting(body)
    if lasting is not None:
        return lasting
    if not objected:
        return _contrast(body) if _ACTUALLY.match(sentence) else _choice(body)
    return _instead(body) or _tuned(body) or _objection(sentence, body)


def _repeated(body: str) -> Correction | None:
    """A repeated instruction: "I told you to …"."""
    match = _REPEATED_TO.match(body)
    if match is not None:
        return _rule(f"Do not {match['rest']}" if match["not"] else match["rest"])
    match = _REPEATED_THAT.match(body)
    return None if match is None else _rule(match["rest"])


def _reproach(body: str) -> Correction | None:
    """What should have been done, or should not: "You should have used the logger"."""
    for pattern, negated in ((_SHOULD_NOT_HAVE, True), (_SHOULD_HAVE, False)):
        match = pattern.match(body)
        if match is not None and is_participle(match["verb"]) and match["verb"].lower() not in _UNDERGONE:
            act = f"{infinitive(match['verb'])} {match['rest']}"
            contrast = _CONTRAST.match(act)
            return _rule(f"Do not {act}" if negated else act, contrast["wrong"] if contrast else None)
    match = _SUPPOSED.match(body)
    return match and _rule(f"Do not {match['rest']}" if match["not"] else match["rest"])


def _habit(sentence: str) -> Correction | None:
    """What is forgotten every time, or never wanted; forgotten once, it may be no rule."""
    if _UNWANTED.match(sentence):
        return _rule(sentence)
    match = _FORGETS.match(sentence)
    rule = match and _rule(f"Remember to {match['rest']}")
    often = match and ("forgetting" in match["often"] or "always" in match["often"] or match["again"])
    return replace(rule, certain=rule.certain and bool(often)) if rule else None


def _preference(body: str) -> Correction | None:
    """What a person prefers, or a project uses, rather than something else."""
    body = _HERE.sub("", body)
    match = _PREFERS.match(body)
    if match is not None and not _STATEMENT.match(match["right"]):
        return _rule(f"Prefer {match['right']} over {match['wrong']}", match["wrong"])
    match = _RATHER.match(body)
    if match is not None and match["verb"].lower() not in ("you", "we"):
        return _rule(f"{match['verb']} {match['right']} rather than {match['wrong']}", match["wrong"])
    match = _PREFERS_THAT.match(body)
    if match is not None:
        act = f"{infinitive(match['verb'])} {match['rest']}".replace(" than ", " rather than ", 1)
        contrast = _CONTRAST.match(act)
        return _rule(f"Do not {act}" if match["not"] else act, contrast["wrong"] if contrast else None)
    match = _WE_USE.match(body)
    return match and (None if _SO_FAR.search(body) else _rule(body, match["wrong"]))


def _from_the_end(body: str) -> Correction | None:
    """A request that ends with how long it lasts: "Use uv instead of pip from now on"."""
    match = _UNTIL_CHANGED.match(body)
    if match is None or _STATEMENT.match(match["rest"]) or _TALK.match(match["rest"]):
        return None
    contrast = _CONTRAST.match(match["rest"])
    return _rule(match["rest"], contrast["wrong"] if contrast else None)


def _tuned(body: str) -> Correction | None:
    """A value, a duty or a habit named in an objection: "wait 10 seconds between retries", "the client should …"."""
    if _NOT_SO.match(body):
        return Correction(_sentence(body), certain=False)
    is_habit = _HABITUALLY.match(body) is not None
    if not (is_habit or _TUNE.match(body) or _OUGHT.match(body)) or _MORE.search(body):
        return None
    rule = _rule(body)
    return rule and replace(rule, certain=rule.certain and (is_habit or _NUMBER.search(body) is not None))


def _from_now_on(body: str, opener: re.Match[str]) -> Correction | None:
    """What applies from now on; an opener that says when it applies is part of the rule."""
    rest = body[opener.end() :]
    first = opener[0].lower()
    if "next time" in first and rest.lower().startswith("you "):
        return Correction(_sentence(body), certain=not _NOW.search(rest)) if "," in body else None
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
        if stop["verb"].lower() in _RUNNING or not stop["rest"].strip(" .!"):
            return None
        rule = _rule(body)
        return rule and replace(rule, certain=rule.certain and not _MEANWHILE.search(body))
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
    contrast = _contrast(body)
    if contrast is not None:
        return contrast
    dont = _DONT.match(body)
    if dont is not None and dont["verb"].lower() not in _IDLE:
        return _rule(body)
    match = _USE.match(body)
    if match is None or _MORE.search(body):
        return None
    rule = _rule(body)
    return rule and replace(rule, certain=rule.certain and not match["rest"].lower().startswith("the "))


def _contrast(body: str) -> Correction | None:
    """One thing rather than another."""
    matches = (pattern.match(body) for pattern in (_DO_INSTEAD, _CONTRAST))
    match = next(filter(None, matches), None)
    return match and _rule(body, match["wrong"])


def _choice(body: str) -> Correction | None:
    """A choice without an objection, which may hold for this task only: "Don't use pip, use uv instead"."""
    match = _REPEATED_CHOICE.match(body)
    if match is not None:
        return None if _is_vague(match["rest"]) else Correction(_sentence(match["rest"]), certain=False)
    match = _DO_INSTEAD.match(body)
    rule = match and _rule(body, match["wrong"])
    return replace(rule, certain=False) if rule else None


def _objection(sentence: str, body: str) -> Correction | None:
    """An objection without a rule in its words: the agent may know the rule."""
    return Correction(_sentence(body or sentence), certain=False) if _OBJECTING.match(sentence) else None


def _rule(words: str, wrong: str | None = None) -> Correction | None:
    """A rule in these words; none if it is about the present only, not certain if its words are vague."""
    right = _sentence(words)
    if len(WORD.findall(right)) < _MIN_WORDS or _NOW.search(right) or _ASKING.match(right):
        return None
    return Correction(right, wrong.strip(" .!`'\"") if wrong else None, certain=not _is_vague(right))


def _is_vague(text: str) -> bool:
    """Whether only the conversation explains a text: "use that one"."""
    return _VAGUE.search(text) is not None


def _sentence(words: str) -> str:
    """Words with a capital at the beginning and without a full stop at the end."""
    plain = words.strip(" ,;:").rstrip(".! ")
    return plain[:1].upper() + plain[1:]
