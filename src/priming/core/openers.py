"""Words that a capital does not make a name: those that begin sentences, days, months, and who is nobody."""

from __future__ import annotations

import re

_OPENING_WORDS = """
    absolutely actually ah amazing anyway awesome aw aww bye certainly congrats congratulations cool dear
    definitely exactly finally glad good goodbye gotcha great haha happy hello hey hi hmm hopefully indeed
    interesting later lately lol love maybe nah nice nope now oh ok okay perhaps recently right so sorry
    sounds see speaking sure thank thanks today tomorrow tonight totally true ugh wait welcome well whoa wow
    yeah yep yes yesterday yup agreed alright cheers congratulation hooray ouch oops phew yay
    add allow always apply ask avoid bring build bump call change check choose clean close commit convert
    correction create delete deploy describe do don't email ensure explain favour favor find fix follow generate
    get give handle ignore import improve include initial install keep leave let limit log look make merge mock
    move must name need never no not open pass pin please prefer print push put read refactor release remember
    remove rename replace restart return revert review run save search send set should show skip split start
    stop store support switch take tell test treat try update upgrade use validate verify work wrap write
    adds closes fixes handles improves moves removes renames updates uses
    added asked became began bought broke brought built came caught changed chose cleaned closed created cut
    deleted did done drew drove ended felt fixed forgot found gave given got grew heard held implemented
    improved kept knew known led left lost made met moved paid ran reached removed renamed replaced reverted
    said sat saw seen sent sold spent spoke started stood stuck switched taken talked taught thought told took
    turned understood updated upgraded used wanted went woke won wore worked wrote written
    again ago ahead almost alone along already although anymore apparently around away because currently
    despite earlier easily especially eventually everyday fortunately honestly instead least
    likewise meanwhile moreover mostly nearly next normally obviously often otherwise overall possibly
    previously probably regardless second seriously simply since slowly sometimes somewhere soon still
    suddenly surely though today together ultimately unfortunately unless unlike usually whenever yet
    gestern heute vorgestern aujourd'hui hier demain ayer hoy mañana anoche
"""
OPENERS = frozenset(_OPENING_WORDS.split())
"""Capitalised at the start of a sentence, and hardly ever a name: what people say first, do, and ask for."""

_LONE_WORDS = """
    adding asking being building changing checking cleaning coming creating doing feeling fixing getting
    giving going having helping implementing improving installing keeping knowing learning looking making
    moving playing reading refactoring removing running seeing setting spending starting stopping taking
    talking testing thinking trying updating upgrading using waiting walking watching working writing
    another best better big different early enough extra final first free full half hard high huge important
    large late long low main many new old only other own poor proud quick several short similar simple small
    special third various weird whole wrong young
    answer answers bug bugs code data date dates docs error errors example examples file files friends guys
    idea ideas issue issues item items kids key keys lessons lots meeting meetings news note notes people
    plan plans problem problems question questions ref refs reminder result results section step steps stuff
    summary task tasks team tests thing things time times tip tips todo fixme topic user users version versions
    warning way week weeks words
    last less like may
"""
LONE = frozenset(_LONE_WORDS.split())
"""The same, but part of a name where another capitalised word follows: "New York", "Big Ben"."""

_NOBODY_WORDS = """
    anybody anyone anything everybody everyone everything nobody nothing somebody someone something one two
    three four five six seven eight nine ten eleven twelve
"""
NOBODY = frozenset(_NOBODY_WORDS.split())
"""No names wherever they stand."""

DAYS = frozenset(
    f"{day}day{s}" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun") for s in ("", "s")
)
_MONTH_WORDS = """
    january february march april may june july august september october november december
"""
MONTHS = frozenset(_MONTH_WORDS.split())
PEOPLE = frozenset(("april", "august", "june", "may"))
"""Months that are people's names too."""

_FORMED = re.compile(r"[a-z]{3,}(?:ing|ings|ed|ly|tions?|ness|ments?)|[a-z]{4,}ies")
_NAME_WORDS = """
    alfred beijing boeing browning chongqing clement darling downing emily fielding fleming ginsberg harding
    hawking holly inverness italy kelly kimberly beverly keeling khaled kipling manfred manning mildred
    mohamed mohammed molly muhammed nanjing parliament polly reilly rowling sally saeed sterling stirling
    vauxhall waleed wilfred winifred wyoming connolly donnelly connelly kennelly farley
"""
_NAMES_SO_FORMED = frozenset(_NAME_WORDS.split())


def is_formed(word: str) -> bool:
    """Tell whether the ending of a word says that a capital only begins a sentence: a verb, an adverb, an abstract.

    >>> is_formed("Researching"), is_formed("Deployed"), is_formed("Beijing"), is_formed("Bob")
    (True, True, False, False)
    """
    plain = word.lower()
    return _FORMED.fullmatch(plain) is not None and plain not in _NAMES_SO_FORMED
