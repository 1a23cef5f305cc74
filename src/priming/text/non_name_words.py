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
SENTENCE_OPENERS = frozenset(_OPENING_WORDS.split())
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


_SHORT = """
    abigail:abby alexander:alex,sasha alexandra:alex,sasha andrew:andy,drew anthony:tony barbara:barb
    benjamin:ben,benny caroline:carrie,caro catherine:cathy,kate,cat charles:charlie,chuck chloe:
    christine:chris,tina christopher:chris daniel:dan,danny david:dave,davy deborah:deb,debbie donald:don
    dorothy:dot,dottie edward:ed,eddie,ted,ned elizabeth:liz,beth,eliza,betty,lizzie,lisa emily:em
    eugene:gene frederick:fred,freddy gabriel:gabe gerald:gerry,jerry gregory:greg harold:harry,hal henry:hank,harry
    isabella:bella,izzy jacob:jake james:jim,jimmy,jamie jeffrey:jeff jennifer:jen,jenny jessica:jess,jessie
    john:jack,johnny jonathan:jon,jonny joseph:joe,joey joshua:josh judith:judy katherine:kate,kathy,kat,katie
    kathleen:kathy kenneth:ken,kenny lawrence:larry leonard:len,leo louis:lou,louie margaret:maggie,meg,peggy,daisy
    maria: mary:molly,polly matthew:matt,matty melanie:mel michael:mike,mick,mickey,mikey michelle:shelly
    nathaniel:nate,nathan nicholas:nick,nicky nicole:nikki olivia:liv,livvy pamela:pam patricia:pat,patty,trish
    patrick:pat,paddy peter:pete philip:phil phillip:phil rachel:rach raymond:ray rebecca:becca,becky
    richard:rick,dick,rich,ricky robert:bob,rob,bobby,robbie,bert ronald:ron,ronnie russell:russ samantha:sam
    samuel:sam,sammy sarah:sally,sadie sharon: stephanie:steph stephen:steve steven:steve susan:sue,susie
    theodore:ted,theo,teddy theresa:terry,tess thomas:tom,tommy timothy:tim,timmy victoria:vicky,tori
    vincent:vince,vinny virginia:ginny walter:walt wendy: william:will,bill,billy,liam,willy zachary:zach,zack
    ada: adam: agnes: aisha: alan:al alice: amanda:mandy amy: ana: andrea: angela:angie anna: anne: anita: antonio:
    arthur:art audrey: bianca: brian: bruce: camila: carl: carlos: carol: carmen: claire: clara: claudia: craig:
    diana: diego: elena: ella: emma: eric: erik: esther: ethan: eva: evan: fatima: felix: fiona: francis:frank
    francisco:paco george: grace: hannah: hans: helen: helena: hugo: ian: ingrid: irene: ivan: jack: jane: janet:
    jason: javier: joan: jorge: jose:pepe juan: julia: julian: julie: karen: karl: kevin: kyle: laura: leah: li: liam:
    linda: lucas: lucia: lucy: luis: luke: maja: marco: marcus: marie: mark: marta: martha: martin: max: mia: miguel:
    mohamed: mohammed: monica: muhammad: nancy: natalie:nat nathan:nate nina: noah: nora: oliver:ollie omar: oscar:
    pablo: paul: paula: pedro: priya: rafael: ravi: roger: rosa: rose: ruth: ryan: sandra: scott: sean: sergei: simon:
    sofia: sophia:sophie sophie: stefan: sven: tara: teresa: vera: victor:vic wei: yuki: yusuf: zoe: grace: charlotte:
    bob: tom: tim: sam: kate: joe: jim: ben: dan: dave: mike: matt: nick: steve: chris: alex: ted:
    greg: jeff: ken: liz: meg: pete: rob: ron: andy: tony: jenny: jess: josh: jon: phil: ray: will: bill: joanna:jo
"""

SHORT = {
    name: tuple(short for short in shorts.split(",") if short)
    for name, shorts in (entry.split(":") for entry in dict.fromkeys(_SHORT.split()))
}
"""Given names, each with what people of that name are called."""


_NOT_PEOPLE_WORDS = """
    academy airport arena avenue award awards bay beach bridge building castle cathedral center centre
    chapel church city clinic code college conference county court creek cup day effect falls field forest
    foundation fund garden gardens group hall harbor harbour highway hill hills hospital hotel house inc
    institute island islands lake law library lodge ltd memorial model mountain museum palace park peak
    plaza prize railway river road school springs square stadium station street summit theater theatre
    theorem tower trail university valley village
"""
NOT_PEOPLE = frozenset(_NOT_PEOPLE_WORDS.split())
"""Last words of names of places and institutions, which may begin with a given name: "Victoria Park"."""


def is_given_name(word: str) -> bool:
    """Tell whether a word is a given name that the table knows.

    >>> is_given_name("Robert"), is_given_name("Bob"), is_given_name("York")
    (True, True, False)
    """
    return word.casefold() in SHORT


def is_short_for(short: str, name: str) -> bool:
    """Tell whether people of a given name are called so.

    >>> is_short_for("Bob", "Robert"), is_short_for("Bob", "Melanie")
    (True, False)
    """
    return short.casefold() in SHORT.get(name.casefold(), ())
