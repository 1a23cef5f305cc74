"""Names in a text, by rules: people, places, titles, files, identifiers, handles (RECALL)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from priming.core.lexical import is_stop

NAME, FILE, IDENTIFIER, QUOTED, HANDLE = KINDS = ("name", "file", "identifier", "quoted", "handle")

SPAN_WORDS = 12
STRETCH_WORDS = 4
NAME_LETTERS = 256
QUOTED_WORDS = 5
QUOTED_LETTERS = 80

# Capitalised at the start of a sentence, and hardly ever a name: what people say first, and what they ask for.
_OPENING_WORDS = """
    absolutely actually ah amazing anyway awesome aw aww bye certainly congrats congratulations cool dear
    definitely exactly finally glad good goodbye gotcha great haha hello hey hi hmm hopefully indeed
    interesting later lately lol maybe nah nice nope now oh ok okay one perhaps recently right so sorry
    sounds see speaking sure thank thanks today tomorrow tonight totally true ugh wait welcome well whoa wow
    yeah yep yes yesterday yup
    add allow always apply ask avoid build call change check choose close commit convert correction create
    delete describe do don't ensure explain favour favor find fix follow generate handle ignore import include
    install keep leave let limit log make merge mock move must name never no not note open pass pin please
    prefer print push put read refactor release remember remove rename replace restart return review run save
    search send set should show skip split start stop store take tell treat try update use validate verify
    wrap write
"""
OPENERS = frozenset(_OPENING_WORDS.split())

_UPPER = "A-Z" + "".join(
    letter
    for start, end in ((0xC0, 0x590), (0x1E00, 0x2000))
    for letter in map(chr, range(start, end))
    if letter.isupper()
)
_JOINERS = frozenset(("of", "the", "de", "la", "von", "van", "for", "and"))
_GAP = r"[ \t]{1,3}"
_ABBREVIATION = r"(?:Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|Mt|Ft|Lt|Col|Gen|Sgt|Capt|Rev|Hon|Gov|Sen)\."
_INITIALS = rf"(?:[{_UPPER}]\.){{2,4}}|[{_UPPER}]\.(?=[ ]?[{_UPPER}])"
_PLAIN = rf"[{_UPPER}]\w*+(?:['’&-]\w++)*+(?![@\\/_]|\.\w)"
_CAPITAL = rf"(?:{_ABBREVIATION}|{_INITIALS}|{_PLAIN})"
_LINK = rf"(?:(?:{'|'.join(sorted(_JOINERS))}){_GAP}){{0,2}}"
_NUMBER = r"\d++(?:[.,:-]\d++)*+(?![\w%])"
_YEAR = r"(?:1[5-9]|20)\d\d"
_SPAN = re.compile(
    rf"(?<![\w@#\\/.$])(?:{_YEAR}{_GAP})?{_CAPITAL}"
    rf"(?:{_GAP}{_LINK}(?:{_YEAR}{_GAP})?{_CAPITAL}){{0,{SPAN_WORDS - 1}}}(?:{_GAP}{_NUMBER}){{0,2}}"
)
_WORD = re.compile(r"\S+")
_BREAKS = ("", *'.!?…:;\n\r"“”‘(*#>—')
_ROMAN = re.compile("[IVX]+")
_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

_DOUBLE = re.compile(rf'"([^"\n]{{1,{QUOTED_LETTERS}}})"|“([^“”\n]{{1,{QUOTED_LETTERS}}})”')
_SINGLE = re.compile(rf"‘([^‘’\n]{{1,{QUOTED_LETTERS}}}(?:’\w[^‘’\n]{{0,{QUOTED_LETTERS}}}){{0,3}})’(?!\w)")
_TICKED = re.compile(rf"`([^`\n]{{1,{QUOTED_LETTERS}}})`")
_HOST = re.compile(r"(?:https?|ftp|wss?|ssh|git)://(?:[\w.-]{1,64}@)?((?:[\w-]++\.)*+[\w-]++)", re.IGNORECASE)

_ODD = re.compile(r"[_/\\@\d]|[.:>]\w|[a-z][A-Z]|[A-Z]{2}[a-z]")
_EDGE = "\"'`“”‘’«»()[]{}<>,;:!?*|…"
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]++(?:\.[\w-]++)+")
_AT = re.compile(r"@\w(?:[\w.-]*\w)?")
_LINE = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_ROOTED = re.compile(r"(?:~|\.{1,2})?[/\\][\w.~/\\@+-]*\w[\w.~/\\@+-]*|[A-Za-z]:[/\\][\w.~/\\@+-]+")
_PATH = re.compile(r"(?:[\w.@+-]+[/\\])+[\w@+-]*\.[A-Za-z]\w{0,7}|(?:[A-Za-z_.][\w.@+-]*[/\\]){2,}[\w.@+-]*")
_FILE = re.compile(
    r"(?:[\w+-]+\.)+(?:py|pyi|ipynb|js|jsx|mjs|ts|tsx|vue|svelte|java|kt|scala|c|h|cc|cpp|hpp|cs|go|rs|rb|php|pl|lua"
    r"|jl|ex|exs|erl|hs|ml|swift|sh|bash|zsh|ps1|bat|sql|md|rst|txt|tex|json|jsonl|yaml|yml|toml|ini|cfg|conf|env"
    r"|lock|xml|html|htm|css|scss|csv|tsv|parquet|db|sqlite|log|proto|graphql|tf|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif"
    r"|svg|webp|mp3|mp4|wav|zip|tar|gz|whl|jar|so|dll|exe|wasm|patch|diff)",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}")
_VERSION = re.compile(r"[vV]\d++(?:\.\d++)*+(?:[-+.]?\w++)*+|\d++(?:\.\d++){2,}+(?:[-+.]?\w++)*+")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}")
_CODE = re.compile(r"(?=[A-Z0-9]*\d)[A-Z][A-Z0-9]+")
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_$]\w*+(?:(?:\.|::|->)[A-Za-z_]\w*+)*+")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in the text, and what kind of thing it is by its form."""

    text: str
    kind: str


def names(text: str, heading: str | None = None) -> tuple[str, ...]:
    """List the names of a text as they stand in it: the texts of ``find``.

    Parameters
    ----------
    text : the text of a memory or of a cue.
    heading : its speaker or title, if it has one.

    Returns
    -------
    Each name once, in order of first appearance, the heading first.

    Examples
    --------
    >>> names("Yesterday Caroline joined the University of Oslo.")
    ('Caroline', 'University of Oslo', 'University', 'Oslo')
    """
    return tuple(name.text for name in find(text, heading))


def find(text: str, heading: str | None = None) -> tuple[Name, ...]:
    """Find the names of a text by their form.

    Capitalised words make a name, joined over of, the, de, la, von, van, for, and, over a year before and
    numbers after it. The shorter names inside it, down to single words, are names too, and so are two
    neighbours with a comma between ("Rochester, New York"). Function words are taken off its ends, and
    openers such as "Thanks" where a sentence begins. Besides: files (``src/app.py``), identifiers
    (``snake_case``, ``camelCase``, ``dotted.name``, anything in backticks, ``ABC-123``, ``v1.2.3``), short
    quotations with a capital, handles (``@name``, e-mail addresses, hosts of web addresses).

    Parameters
    ----------
    text : the text of a memory or of a cue; any length, the work is linear in it.
    heading : its speaker or title, if it has one; read first, and without its parenthesis a name itself.

    Returns
    -------
    Names that differ in ``normal`` form, in order of first appearance.

    Examples
    --------
    >>> [(name.text, name.kind) for name in find("See src/app.py, @mia: `run_all` fails")]
    [('src/app.py', 'file'), ('app.py', 'file'), ('@mia', 'handle'), ('run_all', 'identifier')]
    """
    found: dict[str, Name] = {}
    if heading:
        whole = heading_name(heading)
        for name in (Name(whole, NAME), *_in_order(heading)):
            found.setdefault(normal(name.text), name)
    for name in _in_order(text):
        found.setdefault(normal(name.text), name)
    found.pop("", None)
    return tuple(found.values())


def heading_name(heading: str) -> str:
    """Take a heading without its parenthesis, as a name.

    Parameters
    ----------
    heading : a speaker or a title.

    Returns
    -------
    The heading without what stands in brackets; the whole heading if nothing else is left.

    Examples
    --------
    >>> heading_name("Lilu (mythology)")
    'Lilu'
    """
    return " ".join(_PARENTHESIS.sub(" ", heading).split()) or " ".join(heading.split())


def normal(name: str) -> str:
    """Bring a name to the form by which names are compared.

    Parameters
    ----------
    name : a name as it stands in a text.

    Returns
    -------
    Case-folded, spaces collapsed, a leading article and the possessive dropped; empty for nothing.

    Examples
    --------
    >>> normal("The  Beatles’"), normal("Caroline's")
    ('beatles', 'caroline')
    """
    words = name.casefold().replace("’", "'").split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        del words[0]
    joined = " ".join(words)
    return joined[:-2] if joined.endswith("'s") else joined.rstrip("'")


def _in_order(text: str) -> list[Name]:
    """List names by place; of two rules that give a name at one place, the more telling kind is first."""
    found: list[tuple[int, Name]] = []
    if "`" in text:
        found += _ticked(text)
    if '"' in text or "“" in text or "‘" in text:
        found += _quoted(text)
    if "://" in text:
        found += ((m.start(1), Name(m[1].lower().removeprefix("www."), HANDLE)) for m in _HOST.finditer(text))
    if _ODD.search(text):
        found += _tokens(text)
    found += _spans(text)
    found.sort(key=lambda pair: pair[0])
    return [name for _, name in found if len(name.text) <= NAME_LETTERS]


def _spans(text: str) -> Iterator[tuple[int, Name]]:
    before, ended = "", -2
    for match in _SPAN.finditer(text):
        start, end = match.span()
        words = _trimmed(match[0].split(), opening=_opens(text, start))
        if not words:
            before = ""
            continue
        whole = _joined(words)
        # "Rochester, New York" is one place; of a longer list each neighbouring pair is.
        if before and start == ended + 2 and text[ended:start] == ", ":
            yield start, Name(f"{before}, {whole}", NAME)
        before, ended = whole, end
        for name in _with_parts(words):
            yield start, Name(name, NAME)


def _opens(text: str, start: int) -> bool:
    """Tell whether a sentence may start here: nothing, a line's end or more than a comma is before."""
    return text[max(0, start - 2) : start].strip(" ")[-1:] in _BREAKS


def _trimmed(words: list[str], *, opening: bool) -> list[str]:
    """Take function words off both ends, and openers off the start of a sentence."""
    first, last = 0, len(words)
    while first < last and (_dull(words[first]) or (opening and words[first].lower() in OPENERS)):
        first += 1
    while last > first and _dull(words[last - 1]):
        last -= 1
    # What is left of "In 2023" is a number, which names nothing.
    return words[first:last] if any(word[0].isalpha() for word in words[first:last]) else []


def _dull(word: str) -> bool:
    return word in _JOINERS or is_stop(word)


def _with_parts(words: list[str]) -> Iterator[str]:
    """Yield the whole span, the shorter spans inside its stretches between joiners, and its words."""
    yield _joined(words)
    if len(words) == 1:
        yield from _pieces(words[0])
        return
    for stretch in _stretches(words):
        for size in range(min(len(stretch), len(words) - 1, STRETCH_WORDS), 1, -1):
            for first in range(len(stretch) - size + 1):
                part = stretch[first : first + size]
                if _carries(part[0], part[-1]):
                    yield _joined(part)
        for word in stretch:
            if _stands_alone(word):
                yield _bare(word)
            yield from _pieces(word)


def _carries(first: str, last: str) -> bool:
    """Tell whether a shorter span may begin and end with these words: no "the", not initials alone."""
    return (_stands_alone(first) or _stands_alone(last)) and not (_dull(first) or _dull(last))


def _pieces(word: str) -> list[str]:
    """Take a compound apart: "Detroit-based" speaks of Detroit."""
    return [piece for piece in word.split("-") if _stands_alone(piece)] if "-" in word else []


def _stretches(words: list[str]) -> list[list[str]]:
    stretches: list[list[str]] = [[]]
    for word in words:
        if word in _JOINERS:
            stretches.append([])
        else:
            stretches[-1].append(word)
    return stretches


def _stands_alone(word: str) -> bool:
    """Tell whether a word of a longer name is a name itself: no number, initial or function word."""
    if len(word) < 2 or not word[0].isupper() or word[-1] == ".":
        return False
    return not (_ROMAN.fullmatch(word) or is_stop(word))


def _joined(words: list[str]) -> str:
    return _bare(" ".join(words))


def _bare(name: str) -> str:
    return name[:-2] if name.endswith(("'s", "’s")) else name


def _ticked(text: str) -> Iterator[tuple[int, Name]]:
    for match in _TICKED.finditer(text):
        inside = match[1].strip()
        if inside:
            kind = FILE if _is_file(inside) else IDENTIFIER
            yield match.start(1), Name(inside.removesuffix("()"), kind)


def _quoted(text: str) -> Iterator[tuple[int, Name]]:
    for match in _DOUBLE.finditer(text):
        inside = (match[1] or match[2]).strip(" ,.;:!?")
        if len(inside.split()) <= QUOTED_WORDS and any(map(str.isupper, inside)) and not is_stop(inside):
            yield match.start() + 1, Name(inside, QUOTED)
    for match in _SINGLE.finditer(text):
        inside = match[1].strip(" ,.;:!?")
        if inside and len(inside.split()) <= QUOTED_WORDS and not is_stop(inside):
            yield match.start() + 1, Name(inside, QUOTED)


def _tokens(text: str) -> Iterator[tuple[int, Name]]:
    """Yield what a token between spaces shows by its letters: files, identifiers, handles."""
    for match in _WORD.finditer(text):
        token = match[0]
        if token.isalpha() and (token.islower() or token.istitle()):
            continue
        if len(token) > NAME_LETTERS or "://" in token or not _ODD.search(token):
            continue
        token = token.strip(_EDGE)
        for name in _classified(token.rstrip(".") or token):
            yield match.start(), name


def _classified(token: str) -> Iterator[Name]:
    if "@" in token and (_EMAIL.fullmatch(token) or _AT.fullmatch(token)):
        yield Name(token, HANDLE)
    elif _is_file(path := _LINE.sub("", token)):
        yield Name(path, FILE)
        base = re.split(r"[/\\]", path)[-1]
        if "." in base[1:]:
            yield Name(base, FILE)
    elif _is_code(token):
        yield Name(token, IDENTIFIER)
    else:
        for match in _IDENTIFIER.finditer(token):
            if _is_identifier(match[0]):
                yield Name(match[0], IDENTIFIER)


def _is_file(token: str) -> bool:
    if "/" in token or "\\" in token:
        return bool(_ROOTED.fullmatch(token) or _PATH.fullmatch(token))
    return bool("." in token and _FILE.fullmatch(token))


def _is_code(token: str) -> bool:
    if _ISSUE.fullmatch(token) or _CODE.fullmatch(token):
        return True
    return bool(_VERSION.fullmatch(token)) and not _DATE.fullmatch(token)


def _is_identifier(word: str) -> bool:
    parts = re.split(r"\.|::|->", word)
    if len(parts) > 1:
        # "e.g", "p.m" and "U.S" are abbreviations.
        return any(len(part) > 1 for part in parts)
    return "_" in word.strip("_") or word.startswith("__") or bool(_INNER_CAPITAL.search(word))
