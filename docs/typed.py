"""The files ``bound.pyi``, by which type checkers know the verbs of ``Memory``, from the rows of the table."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from priming import extensions
from priming.verbs.op import Op
from priming.verbs.rows import ROWS

_FILE = '''"""{about}: written by ``make docs``."""

{imports}

class {name}({base}):
{verbs}
'''


def texts() -> dict[Path, str]:
    """Return the text of each such file: of the library, and of each package that adds verbs."""
    written = {
        _beside("priming.verbs"): _text(
            "The verbs of ``Memory``", "Verbs", "priming.namespace:Namespace", ROWS
        )
    }
    for name in extensions.names(extensions.OPERATIONS):
        (rows,) = extensions.load(extensions.OPERATIONS, name)
        about = f"``Memory`` with the verbs of the {name}"
        package = rows[0].at.partition(".")[0]
        written[_beside(package)] = _text(about, f"{name.title()}Verbs", "priming.memory:Memory", rows)
    return written


def write() -> None:
    """Write the files."""
    for path, text in texts().items():
        path.write_text(text, "utf-8")


def _text(about: str, name: str, base: str, rows: Iterable[Op]) -> str:
    verbs = {op.name: op.method for op in rows if op.verb}
    modules = sorted({place.partition(":")[0] for place in (base, *verbs.values())})
    return _FILE.format(
        about=about,
        imports="\n".join(f"import {module}" for module in modules),
        name=name,
        base=base.replace(":", "."),
        verbs="\n".join(f"    {verb} = {place.replace(':', '.')}" for verb, place in verbs.items()),
    )


def _beside(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("bound.pyi")
