"""The files of the page, as the build left them: read at their first use, and served from memory.

An installation has them in the folder ``priming_page``, a clone in ``build/page``; see ``hatch_build.py``.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from priming.config.values import dataclass

PACKAGE = "priming_page"
"""The folder beside Priming's that the build fills."""
INDEX, ASSETS = "index.html", "assets/"
MISSING = "missing.txt"
"""What the build writes instead of the page: why there is none."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
    " font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_NONE = (
    "this installation has no page: install Node.js 20.19 or newer and then Priming again, or run make page in its"
    " clone"
)


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page: its bytes, as they are and compressed, its type and the tag of its content."""

    data: bytes
    compressed: bytes
    kind: str
    tag: str

    def response(self, request: Request, lasts: str) -> Response:
        """Answer a request for it: nothing but the tag to who has it already."""
        headers = {**_HEADERS, "ETag": self.tag, "Cache-Control": lasts}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.data, 200, headers, self.kind)
        return Response(self.compressed, 200, {**headers, "Content-Encoding": "gzip"}, self.kind)


def read(folder: Path | None) -> Mapping[str, PageFile]:
    """Read the files of a page by their paths in its folder; none where there is no page."""
    if folder is None or not (folder / INDEX).is_file():
        return {}
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): _file(path) for path in paths}


def _file(path: Path) -> PageFile:
    data = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return PageFile(data, gzip.compress(data, mtime=0), kind, f'"{hashlib.sha256(data).hexdigest()[:32]}"')


def folder() -> Path | None:
    """Return the folder of the page: that of the clone where this is one, else that of the installation."""
    clone = Path(__file__).parents[3] / "build" / "page" / "site"
    if clone.is_dir():
        return clone
    spec = find_spec(PACKAGE)
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return Path(places[0]) if places else None


def answer(request: Request, files: Mapping[str, PageFile], name: str) -> Response | None:
    """Answer with a file of the page, None if it has none of that name; without a page, say how to get it."""
    if not files:
        place = folder()
        reason = None if place is None else place / MISSING
        text = reason.read_text("utf-8") if reason is not None and reason.is_file() else f"{_NONE}\n"
        return Response(text, 404, media_type="text/plain")
    file = files.get(name)
    return (
        None if file is None else file.response(request, _FOR_EVER if name.startswith(ASSETS) else "no-cache")
    )
