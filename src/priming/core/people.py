"""Given names and what they are shortened to: how a rule tells that a full name is a person's."""

from __future__ import annotations

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


def is_given(word: str) -> bool:
    """Tell whether a word is a given name that the table knows.

    >>> is_given("Robert"), is_given("Bob"), is_given("York")
    (True, True, False)
    """
    return word.casefold() in SHORT


def is_short_for(short: str, name: str) -> bool:
    """Tell whether people of a given name are called so.

    >>> is_short_for("Bob", "Robert"), is_short_for("Bob", "Melanie")
    (True, False)
    """
    return short.casefold() in SHORT.get(name.casefold(), ())
