"""Names in a text, by rules: people, places, titles, files, identifiers, handles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.config.values import dataclass
from priming.text.capitalised_names import UPPER, initialisms, spans, strip_markup
from priming.text.dates import dates
from priming.text.tokens import is_stop

NAME, FILE, IDENTIFIER, QUOTED, HANDLE, DATE = FORMS = (
    "name",
    "file",
    "identifier",
    "quoted",
    "handle",
    "date",
)

NAME_LETTERS = 256
QUOTED_WORDS = 5
QUOTED_LETTERS = 80

_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

_DOUBLE = re.compile(rf'"([^"\n]{{1,{QUOTED_LETTERS}}})"|“([^“”\n]{{1,{QUOTED_LETTERS}}})”')
_TYPEWRITTEN = re.compile(rf"(?<![\w'])'([{UPPER}][^'\n]{{1,{QUOTED_LETTERS}}})'(?![\w'])")
_CORNERED = re.compile(rf"[「『《]([^「」『』《》\n]{{1,{QUOTED_LETTERS}}})[」』》]")
_SINGLE = re.compile(rf"‘([^‘’\n]{{1,{QUOTED_LETTERS}}}(?:’\w[^‘’\n]{{0,{QUOTED_LETTERS}}}){{0,3}})’(?!\w)")
_QUOTE = re.compile(r"[\"'“‘「『《]")
_TICKED = re.compile(rf"`([^`\n]{{1,{QUOTED_LETTERS}}})`")
_HOST = re.compile(
    r"(?:https?|ftp|wss?|ssh|git)://(?:[\w.-]{1,64}@)?((?:[\w-]+\.)*[\w-]+(?!\.|[\w-]))", re.IGNORECASE
)

_FOLDER = r"[\w.~@+()-]+"
_SPACED = r"(?:[A-Z(][\w.()-]*[ ](?:and[ ])?){1,3}[A-Z(][\w.()-]*"
_DRIVEN = rf"[A-Za-z]:\\(?:(?:{_SPACED}|{_FOLDER})\\)*{_FOLDER}"
_WORD = re.compile(
    rf"{_DRIVEN}(?=[\s\"'`,;:?!)\]>]|$)"
    r"|\S(?:(?!\]\(|\)\[|(?<=[\"'`(\[<])[A-Za-z]:\\)\S)*"
)
"""What stands between spaces, or in one half of a Markdown link; in a path of Windows folders may hold spaces."""
_ODD = re.compile(r"[_/\\@\d]|[.:>]\w|[a-z][A-Z]|[A-Z]{2}[a-z]")
_EDGE = "\"'`“”‘’«»()[]{}<>,;:!?*|…"
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_AT = re.compile(r"@\w(?:[\w.-]*\w)?")
_LINE = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_ROOTED = re.compile(
    r"(?:~|\.{1,2})?[/\\][\w.~/\\@+-]*\w[\w.~/\\@+-]*|[A-Za-z]:[/\\][\w.~/\\@+-]+"
    rf"|{_DRIVEN}"
)
_PATH = re.compile(r"(?:[\w.@+-]+[/\\])+[\w@+-]*\.[A-Za-z]\w{0,7}|(?:[A-Za-z_.][\w.@+-]*[/\\]){2,}[\w.@+-]*")
_FILE = re.compile(
    r"(?:[\w+-]+\.)+(?:py|pyi|ipynb|js|jsx|mjs|ts|tsx|vue|svelte|java|kt|scala|c|h|cc|cpp|hpp|cs|go|rs|rb|php|pl|lua"
    r"|jl|ex|exs|erl|hs|ml|swift|sh|bash|zsh|ps1|bat|sql|md|rst|txt|tex|json|jsonl|yaml|yml|toml|ini|cfg|conf|env"
    r"|lock|xml|html|htm|css|scss|csv|tsv|parquet|db|sqlite|log|proto|graphql|tf|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif"
    r"|svg|webp|mp3|mp4|wav|zip|tar|gz|whl|jar|so|dll|exe|wasm|patch|diff)",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}")
_VERSION = re.compile(r"(?:[vV]\d|\d+\.\d+\.\d)\w*(?:[-+.]\w+)*")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}")
_HASH = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NUMBERED = re.compile(r"(?:[\w.-]{1,64}/[\w.-]{1,64})?#\d{1,5}")
_SLASHED = re.compile(rf"[{UPPER}]\w+(?:/[{UPPER}]\w+){{1,3}}")
_DEGREES = frozenset(("Ph.D", "M.Sc", "B.Sc", "M.D", "Ed.D", "D.Phil", "M.Phil", "LL.M", "LL.B"))
_CODE = re.compile(r"(?=[A-Z0-9]*\d)[A-Z][A-Z0-9]+")
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_$]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in the text, and what kind of thing it is by its form."""

    text: str
    kind: str


def names(text: str, heading: str | None = None) -> tuple[str, ...]:
    """List the names of a text as they stand in it, and its dates in their normal form: the texts of ``find``.

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
    openers such as "Thanks" where a sentence begins. A single word that begins a sentence is no name if it
    is a common word, has the ending of a verb or adverb, or stands in small letters elsewhere in the text.
    Days and months are none either. Besides: files (``src/app.py``), identifiers (``snake_case``,
    ``camelCase``, ``dotted.name``, anything in backticks, ``ABC-123``, ``#42``, ``v1.2.3``, hashes), short
    quotations with a capital, handles (``@name``, e-mail addresses, hosts of web addresses), and dates with
    a year, in the form 2024-05-17 or 2024-05.

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
    names: dict[str, Name] = {}
    if heading:
        whole = heading_name(heading)
        for name in (Name(whole, NAME), *_in_order(heading)):
            names.setdefault(normal(name.text), name)
    for name in _in_order(text):
        names.setdefault(normal(name.text), name)
    names.pop("", None)
    return tuple(names.values())


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
    names: list[tuple[int, Name]] = []
    if "`" in text:
        names += _ticked(text)
    if _QUOTE.search(text):
        names += _quoted(text)
    if "://" in text:
        names += ((m.start(1), Name(m[1].lower().removeprefix("www."), HANDLE)) for m in _HOST.finditer(text))
    if _ODD.search(text):
        names += _tokens(text)
    if ")" in text:
        names += ((start, Name(words, NAME)) for start, words, _ in initialisms(text))
    written_dates = dates(text)
    names += ((start, Name(day, DATE)) for start, _, day in written_dates)
    taken = [(start, end) for start, end, _ in written_dates]
    names += ((start, Name(name, NAME)) for start, name in spans(text, taken))
    names.sort(key=lambda pair: pair[0])
    return [name for _, name in names if len(name.text) <= NAME_LETTERS]


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
    for pattern in (_SINGLE, _TYPEWRITTEN, _CORNERED):
        for match in pattern.finditer(text):
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
        token = strip_markup(token.rstrip(f".{_EDGE}") or token)
        for name in _classified(token):
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
    elif _SLASHED.fullmatch(token):
        yield from (Name(part, NAME) for part in token.split("/") if not is_stop(part))
    else:
        for match in _IDENTIFIER.finditer(token):
            if _is_identifier(match[0]):
                yield Name(match[0], IDENTIFIER)


def _is_file(token: str) -> bool:
    if "/" in token or "\\" in token:
        return bool(_ROOTED.fullmatch(token) or _PATH.fullmatch(token))
    return bool("." in token and _FILE.fullmatch(token))


def _is_code(token: str) -> bool:
    if any(form.fullmatch(token) for form in (_ISSUE, _CODE, _HASH, _NUMBERED)):
        return True
    return bool(_VERSION.fullmatch(token)) and not _DATE.fullmatch(token)


def _is_identifier(word: str) -> bool:
    parts = re.split(r"\.|::|->", word)
    if len(parts) > 1:
        # "e.g", "p.m" and "U.S" are abbreviations.
        return any(len(part) > 1 for part in parts) and word not in _DEGREES
    return "_" in word.strip("_") or word.startswith("__") or bool(_INNER_CAPITAL.search(word))
