"""The entities of files: the key of a file is ``file:`` and its path, its text is the path.

``touches`` says what was worked on, ``mentions`` what a text names: a new text leaves a memory's files as they
are. Whether a file is gone is a link to the commit that removed it, which a later commit that touches the file
outweighs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from priming.config.values import dataclass
from priming.index.document import RULES
from priming.recall.entities import file_key
from priming.remember.drafts import Draft
from priming.text.name_forms.kinds import FILE


def file_draft(path: str, trust: str) -> Draft:
    """A file as a bare name, made by rule, which has no text to match but carries activation."""
    return Draft(path, kind="entity", key=file_key(path), source=RULES, trust=trust, metadata={"form": FILE})


def is_bare_name(draft: Draft) -> bool:
    """Whether a draft is a name without a text of its own, such as a file."""
    return draft.kind == "entity" and draft.source == RULES


@dataclass(slots=True)
class FileNames:
    """The paths of the files of a namespace by their endings, since texts name most files by the last part only."""

    _by_ending: dict[str, str | None] = field(default_factory=dict)

    def add(self, path: str) -> None:
        """Add the path of a file; a name without folders is no path."""
        for ending in _endings(path):
            if self._by_ending.setdefault(ending, path) != path:
                self._by_ending[ending] = None

    def whole(self, ending: str) -> str | None:
        """The only path that ends in this name; None where there is none, or several.

        >>> names = FileNames()
        >>> names.add("src/pool.py"), names.add("src/__init__.py"), names.add("tests/__init__.py")
        (None, None, None)
        >>> names.whole("pool.py"), names.whole("__init__.py")
        ('src/pool.py', None)
        """
        return self._by_ending.get(ending)


def _endings(path: str) -> Iterator[str]:
    """What follows each slash of a path."""
    at = path.find("/")
    while at >= 0:
        yield path[at + 1 :]
        at = path.find("/", at + 1)
