"""Technical names, by the letters of a token between spaces: files, identifiers, hosts, flags, variables, handles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from priming.text.name_forms.capitals import UPPER, strip_markup
from priming.text.name_forms.forms import FILE, HANDLE, IDENTIFIER, NAME, NAME_LETTERS, Name, pinned
from priming.text.tokens import is_stop
from priming.text.word_lists import (
    COMPONENT_NOUNS,
    COMPOUND_PARTS,
    COUNTED_NOUNS,
    PLAIN_MODIFIERS,
    PREFIXES,
    SOFTWARE,
    SOURCE_FOLDERS,
    UNITS,
)

_FOLDER = r"[\w.~@+()-]+"
_SPACED = r"(?:[A-Z(][\w.()-]*[ ](?:and[ ])?){1,3}[A-Z(][\w.()-]*"
_DRIVEN = rf"[A-Za-z]:\\(?:(?:{_SPACED}|{_FOLDER})\\){{0,32}}{_FOLDER}"
_WORD = re.compile(
    rf"{_DRIVEN}(?=[\s\"'`,;:?!)\]>]|$)"
    r"|\S(?:(?!\]\(|\)\[|(?<=[\"'`(\[<])[A-Za-z]:\\)\S)*"
)
"""What stands between spaces, or in one half of a Markdown link; in a path of Windows folders may hold spaces."""
_ODD = re.compile(
    r"[_/\\@\d#$=%]|[.:>](?:\w|(?<=\.)(?<!\S.))|-(?:(?<!\S.)|(?<=\w.)\w)|[A-Z](?:(?<=[a-z].)|[A-Z][a-z])"
)
"""A sign that no plain word has; the pattern looks back from the sign, since most letters are none."""
_EDGE = "\"'`“”‘’«»()[]{}<>,;:!?*|…"
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_AT = re.compile(r"@\w(?:[\w.-]*\w)?")
_CHANNEL = re.compile(r"#(?![0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?$)[a-z][a-z0-9_-]{2,}")
_LINE = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_ROOTED = re.compile(
    r"(?:~|\.{1,2}|\$\w+|\$\{\w+\})?[/\\][\w.~/\\@+-]*|[A-Za-z]:[/\\][\w.~/\\@+-]+"
    rf"|{_DRIVEN}"
)
_PATH = re.compile(r"(?:[\w.@+-]+[/\\])+[\w@+-]*\.[A-Za-z]\w{0,7}|(?:[A-Za-z_.][\w.@+-]*[/\\]){2,}[\w.@+-]*")
_ENDINGS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|java|kt|scala|c|h|cc|cpp|hpp|cs|go|rs|rb|php|pl|lua"
    "|jl|ex|exs|erl|hs|ml|swift|sh|bash|zsh|ps1|bat|sql|md|rst|txt|tex|json|jsonl|yaml|yml|toml|ini|cfg|conf|env"
    "|lock|xml|html|htm|css|scss|csv|tsv|parquet|db|sqlite|log|proto|graphql|tf|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif"
    "|svg|webp|mp3|mp4|wav|zip|tar|gz|whl|jar|so|dll|exe|wasm|patch|diff"
)
_FILE = re.compile(rf"(?:[\w+-]+\.)+(?:{_ENDINGS})", re.IGNORECASE)
_HIDDEN = re.compile(rf"\.(?!(?:{_ENDINGS.replace('|env', '')})$)[a-z_][\w-]+(?:\.[\w-]+)*", re.IGNORECASE)
_BRANCH = re.compile(r"[a-z][\w.-]*/(?=[\w.-]*[-_.\d])[\w.-]*[\w-]|[a-z][\w.-]*[a-z0-9]/")
_IN_FOLDER = re.compile(r"([a-z]+)/[A-Za-z]\w*")
_ISSUE = re.compile(r"[A-Z][A-Z0-9]{1,9}(?:-\d{1,7}){1,2}")
_VERSION = re.compile(r"(?:[vV]\d|\d+\.\d+\.\d)\w*(?:[-+.]\w+)*")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}")
_HASH = re.compile(
    r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0[xX][0-9a-fA-F]{2,40}"
)
_NUMBERED = re.compile(r"(?:[\w.-]{1,64}/[\w.-]{1,64})?#\d{1,5}")
_SLASHED = re.compile(rf"[{UPPER}]\w+(?:/[{UPPER}]\w+){{1,3}}")
_DEGREES = frozenset(("Ph.D", "M.Sc", "B.Sc", "M.D", "Ed.D", "D.Phil", "M.Phil", "LL.M", "LL.B"))
_CODE = re.compile(r"(?=[A-Z0-9]*\d)(?!Q[1-4]$|H[12]$|P\d{2,3}$|[A-Z]\d$)[A-Z][A-Z0-9]+|S3|R2")
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_$]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_FLAG = re.compile(r"--[A-Za-z][\w-]*|-[A-Za-z]{1,2}\d{0,5}|-[A-Z][a-z]{2,10}\d{1,6}[a-z]?")
_NO_FLAGS = frozenset(("-ed", "-er", "-ly", "-es", "-s", "-al", "-ic", "-or", "-en", "-y", "-d"))
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}|\$(?:env:)?([A-Za-z_]\w*)|%([A-Za-z_]\w+)%")
_IN_PATH = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))[/\\]")
_SCOPED = re.compile(r"(@[\w-]+/[\w-]+(?:\.[\w-]+)*)(?:@[\w.^~-]+)?")
_HOST = re.compile(r"((?:(?=[\w.-]*[A-Za-z])\w[\w-]*(?:\.[\w-]+)*|\d{1,3}(?:\.\d{1,3}){3})):(\d{2,5})")
_HOST_NAME = re.compile(r"(?:[a-z0-9][a-z0-9-]*\.)+[a-z][a-z0-9-]*[a-z0-9]")
_ADDRESS = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?|(?=[^:]*:(?:[^:]*:){1,6})(?=.*::|(?:[^:]*:){4})[0-9A-Fa-f:]{3,39}(?:/\d{1,3})?"
)
_HYPHENED = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)+")
_LETTERS_AND_DIGITS = re.compile(r"([a-z]{2,})\d[a-z0-9]*|[a-z]\d+[a-z]+")
_SETTING = re.compile(r"(?<![=~<>!^])=(?!=)")
_GENERIC = frozenset(("e2e", "p2p", "b2b", "b2c", "m2m", "s2s", "o2o"))
_ADDRESSES = re.compile(r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s<>\"'`“”]+")
_SERVED = re.compile(r"[^/]*//(?:[^/@]{1,64}@)?((?:[\w-]+\.)*[\w-]+)(?=[:/?#]|$)")
_SMALL_WORD = re.compile(r"(?<![\w./@$-])[a-z][a-z0-9]+(?:-[a-z0-9]+){0,3}(?![\w@/-]|\.\w)")


def technical_names(text: str) -> Iterator[tuple[int, Name]]:
    """Yield what a text names by tokens that are no plain words, with their places.

    >>> [name.text for _, name in technical_names("worker-3 ran it with --no-verify against localhost:5432")]
    ['worker-3', '--no-verify', 'localhost:5432', 'localhost']
    """
    if "://" in text:
        yield from _addresses(text)
    for match in _SMALL_WORD.finditer(text):
        if match[0] in SOFTWARE:
            yield match.start(), Name(match[0], IDENTIFIER)
    if _ODD.search(text):
        yield from _odd_tokens(text)


def _addresses(text: str) -> Iterator[tuple[int, Name]]:
    """Yield web addresses and their hosts; those with a user's name in them only by their host."""
    for match in _ADDRESSES.finditer(text):
        address = _without_end(match[0])
        served = _SERVED.match(address)
        if served and len(address) <= NAME_LETTERS and "@" not in address:
            yield match.start(), Name(address, IDENTIFIER)
        if served:
            yield match.start() + served.start(1), Name(served[1].lower().removeprefix("www."), HANDLE)


def _without_end(address: str) -> str:
    """Take the marks that end a sentence, or the brackets around an address, off its end."""
    address = address.rstrip(".,;:!?*|…")
    for opening, closing in ("()", "[]", "{}"):
        if address.endswith(closing) and address.count(closing) > address.count(opening):
            return address.rstrip(f"{closing}.,;:!?*|…")
    return address


def _odd_tokens(text: str) -> Iterator[tuple[int, Name]]:
    for match in _WORD.finditer(text):
        token = match[0]
        if token.isalpha() and (token.islower() or token.istitle()):
            continue
        if len(token) > NAME_LETTERS or "://" in token or not _ODD.search(token):
            continue
        for name in _marked(token):
            yield match.start(), name


def _marked(token: str) -> Iterator[Name]:
    """Yield what a token names by its marks, or without them by its letters."""
    bare = token.strip("\"'`“”‘’,;:!?()[]<>").rstrip(".")
    if bare.startswith("-"):
        flag = bare.split("=")[0]
        if _FLAG.fullmatch(flag) and flag not in _NO_FLAGS:
            yield Name(flag, IDENTIFIER)
        return
    if "$" in token or "%" in token:
        variable = _VARIABLE.fullmatch(bare)
        if variable:
            yield Name(variable[1] or variable[2] or variable[3], IDENTIFIER)
            return
        for match in _IN_PATH.finditer(token):
            yield Name(match[1] or match[2], IDENTIFIER)
    token = token.strip(_EDGE)
    token = strip_markup(token.rstrip(f".{_EDGE}") or token)
    yield from _classified(token)


def _classified(token: str) -> Iterator[Name]:
    path = _LINE.sub("", token)
    if "@" in token or "=" in token or token.startswith("#"):
        yield from _assigned(token)
    elif "::" in token and is_file(token.split("::")[0]):
        path, _, inside = token.partition("::")
        yield Name(token, IDENTIFIER)
        yield from _file(path)
        yield from (Name(part, IDENTIFIER) for part in inside.split("::") if is_identifier(part))
    elif _ADDRESS.fullmatch(token):
        yield Name(token, IDENTIFIER)
    elif is_file(path):
        yield from _file(path)
    elif (host := _HOST.fullmatch(token)) and (len(host[2]) > 2 or "." in host[1]):
        yield from (Name(token, IDENTIFIER), Name(host[1], IDENTIFIER))
    elif "/" in token:
        yield from _slashed(token)
    elif is_code(token):
        yield Name(token, IDENTIFIER)
    else:
        yield from _identifiers(token)


def _assigned(token: str) -> Iterator[Name]:
    """Yield what a token names by "@", "=" or a leading "#": packages, handles, channels, tickets, settings."""
    packages = tuple(pinned(token))
    if scoped := _SCOPED.fullmatch(token):
        yield Name(scoped[1], IDENTIFIER)
    elif packages and not _SETTING.search(token):
        yield from packages
    elif _EMAIL.fullmatch(token) or _AT.fullmatch(token) or _CHANNEL.fullmatch(token):
        yield Name(token, HANDLE)
    elif is_file(_LINE.sub("", token)):
        yield from _file(_LINE.sub("", token))
    elif is_code(token):
        yield Name(token, IDENTIFIER)
    else:
        yield from _identifiers(token)


def _slashed(token: str) -> Iterator[Name]:
    """Yield what a token with one slash names: two names, a branch, a folder, a ticket of another project."""
    inside = _IN_FOLDER.fullmatch(token)
    if is_code(token):
        yield Name(token, IDENTIFIER)
    elif _SLASHED.fullmatch(token):
        yield from (Name(part, NAME) for part in token.split("/") if not is_stop(part))
    elif _BRANCH.fullmatch(token) or (inside and inside[1] in SOURCE_FOLDERS):
        yield Name(token, FILE if token.split("/")[0] in SOURCE_FOLDERS else IDENTIFIER)
    else:
        yield from _identifiers(token)


def _file(path: str) -> Iterator[Name]:
    yield Name(path, FILE)
    base = re.split(r"[/\\]", path)[-1]
    if "." in base[1:]:
        yield Name(base, FILE)


def _identifiers(token: str) -> Iterator[Name]:
    for match in _IDENTIFIER.finditer(token):
        if is_identifier(match[0]):
            yield Name(match[0], IDENTIFIER)


def is_file(token: str) -> bool:
    """Tell whether a token is a path, or the name of a file by its ending.

    >>> is_file("src/app.py"), is_file("app.py"), is_file(".env"), is_file("and/or")
    (True, True, True, False)
    """
    if "/" in token or "\\" in token:
        return bool((_ROOTED.fullmatch(token) and any(map(str.isalnum, token))) or _PATH.fullmatch(token))
    return bool("." in token and (_FILE.fullmatch(token) or _HIDDEN.fullmatch(token)))


def is_code(token: str) -> bool:
    """Tell whether a token is a number of something: a ticket, a version, a digest; a machine, a package or a host.

    >>> is_code("ABC-123"), is_code("worker-3"), is_code("auth-proxy"), is_code("read-only"), is_code("top-10")
    (True, True, True, False, False)
    """
    if any(form.fullmatch(token) for form in (_ISSUE, _CODE, _HASH, _NUMBERED)):
        return True
    if _VERSION.fullmatch(token):
        return not _DATE.fullmatch(token)
    if "-" in token:
        return bool(_HYPHENED.fullmatch(token) or _HOST_NAME.fullmatch(token)) and _is_compound_name(token)
    letters = _LETTERS_AND_DIGITS.fullmatch(token)
    return letters is not None and letters[1] not in COUNTED_NOUNS and token not in _GENERIC


def _is_compound_name(token: str) -> bool:
    """Tell whether a compound with hyphens is a name: by its digits, a noun for a component, or unusual parts."""
    parts = token.split("-")
    first, last = parts[0].lower(), parts[-1]
    if "." in token:
        return bool(_HOST_NAME.fullmatch(token)) or (
            any(map(str.isdigit, token)) and first not in COUNTED_NOUNS
        )
    if any(map(str.isdigit, token)):
        return first not in COUNTED_NOUNS and first not in PREFIXES
    if not token.islower() or any(is_stop(part) for part in parts):
        return False
    if last in COMPONENT_NOUNS:
        return first not in PLAIN_MODIFIERS and first not in PREFIXES
    ordinary = (
        first in PREFIXES
        or f"{first}-" in COMPOUND_PARTS
        or last in COMPOUND_PARTS
        or first in PLAIN_MODIFIERS
    )
    return not ordinary and not last.endswith(("ed", "ing", "ly", "est"))


def is_identifier(word: str) -> bool:
    """Tell whether a word is an identifier of code by its letters.

    >>> is_identifier("run_all"), is_identifier("maxRetries"), is_identifier("os.path"), is_identifier("e.g")
    (True, True, True, False)
    """
    parts = re.split(r"\.|::|->", word)
    if len(parts) > 1:
        # "e.g", "p.m" and "U.S" are abbreviations.
        return any(len(part) > 1 for part in parts) and word not in _DEGREES
    if word in UNITS:
        return False
    return "_" in word.strip("_") or word.startswith("__") or bool(_INNER_CAPITAL.search(word))
