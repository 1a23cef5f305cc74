"""A picture of a recall: its memories, their activation, and the activation that links carried.

The same recall gives the same bytes of SVG. Fonts differ between machines, and so may a PNG.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from priming.config.values import dataclass
from priming.core.arguments.arrays import Floats, Ints
from priming.errors import MissingExtra, ParamError, StoreError
from priming.text.quotation import without_hidden

if TYPE_CHECKING:
    from priming.results import Recall, Step

SUFFIXES = {".svg": b"<svg", ".png": b"\x89PNG"}
"""Suffixes of pictures, with the bytes that identify each format."""
_HEAD = 4096
_FAMILIES = (
    *("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "WenQuanYi Micro Hei"),
    *(
        "Hiragino Sans",
        "PingFang SC",
        "Microsoft YaHei",
        "Noto Emoji",
        "Segoe UI Symbol",
        "Symbola",
        "Unifont",
    ),
)
_EDGE, _FLAT, _TOUCHING = 0.09, 0.5, 1e-6
"""The margin of the map; the share of a horizontal distance that counts, as names are wide; a distance of zero."""
_GAP = 3.0
"""Points between a memory and its name."""
_TURNS, _NUDGE = 120, 0.25
"""How often, and how far, overlapping memories are moved apart."""
_INK, _GREY, _RING, _RIM = "#111827", "#475569", "#c2410c", "#64748b"
_DARK = 0.25
"""Share of the largest activation from which a rank is white."""
_LINK = (0.35, 0.42, 0.55)
_MISSING = "\u25a1"
"""Shown for control characters."""
NODES, IDLE = 40, 8
"""Most memories that are drawn, hits and their paths first, and most anchors among them that led to no hit."""
LETTERS, CUE_LETTERS = 26, 90
"""Longest name of a memory, and longest cue in the title."""
_WIDTH, _HEIGHT, _DOTS = 11.0, 7.5, 150
"""The size of a picture in inches, and the dots of a PNG an inch."""
_SMALLEST, _NUMBERED, _LARGEST = 9.0, 14.0, 30.0
"""Diameters in points: of the least active memory, of a hit, which shows its rank, and of the most active one."""
_THINNEST, _THICKEST = 0.7, 6.0
"""Widths in points of the links that carried least and most."""
_STIFFNESS, _ATTRACTION, _GRAVITY = 1.0, 0.1, 0.2
"""The weight of a link before what it carried, the attraction of a link of weight 1, and that of the centre, which
holds unlinked memories near."""
_STEPS, _NEAREST, _COLDEST = 400, 0.3, 0.01
"""The steps of the layout, the distance below which repulsion stops growing, and the longest last step."""
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_APART = 0.13
"""The least distance of two memories, as a share of the picture."""


@dataclass(frozen=True, slots=True)
class _Dot:
    """A memory in the picture."""

    key: str
    first: float
    last: float
    rank: int | None


def check_picture_path(path: Path) -> None:
    """Refuse a path where no picture can be written, with ``ParamError``, before the recall runs."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise ParamError("--plot", str(path), "must end in .svg or .png")
    if not path.parent.is_dir():
        raise ParamError("--plot", str(path), "must be in an existing folder")
    if not path.exists():
        return
    with path.open("rb") if path.is_file() else BytesIO() as file:
        head = file.read(_HEAD)
    if (head and kind not in head) or not path.is_file():
        rule = f"is not a picture in {path.suffix[1:].upper()} and is not overwritten: name another file"
        raise ParamError("--plot", str(path), rule)


def write(result: Recall, cue: str, path: Path) -> int:
    """Draw a traced recall into a file; return its size in bytes."""
    data = picture(result, cue, path.suffix.lower()[1:])
    try:
        path.write_bytes(data)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {error.strerror}") from error
    return len(data)


def picture(result: Recall, cue: str, form: str) -> bytes:
    """A traced recall as ``svg`` or ``png``."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plot", "a picture of a recall") from None
    import warnings

    buffer = BytesIO()
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "priming",
        "font.family": _families(),
        "font.size": 9.0,
        "axes.unicode_minus": False,
    }
    with mpl.rc_context(style), warnings.catch_warnings():
        # The viewer of an SVG draws it, with its own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white", layout=None)
        _Picture(figure, result).draw(cue)
        about: dict[str, Any] = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(buffer, format=form, dpi=_DOTS, metadata=about)
    return buffer.getvalue()


def _families() -> list[str]:
    """The installed fonts that may have the characters of a memory, matplotlib's own first."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    return [family for family in _FAMILIES if family in installed]


class _Picture:
    """A picture of a recall."""

    def __init__(self, figure: Any, result: Recall) -> None:
        self.axes = figure.add_axes((0.02, 0.03, 0.76, 0.87))
        self.figure, self.result = figure, result
        self.links, self.dots = _select(result)
        self.most = max((dot.last for dot in self.dots), default=0.0) or 1.0

    def draw(self, cue: str) -> None:
        """Draw links, memories, names and the legend."""
        self.axes.set_axis_off()
        self._title(cue)
        at = _positions(self.dots, self.links)
        self.axes.set_xlim(0.0, 1.0)
        self.axes.set_ylim(0.0, 1.0)
        for link in reversed(self.links):
            self._link(link, at)
        for dot in self.dots:
            self._dot(dot, *at[dot.key])
            self._name(dot, at)
        self._legend()
        if not self.dots:
            self._text(0.5, 0.5, self.result.reason or "no hits", ha="center", color=_GREY)

    def _title(self, cue: str) -> None:
        hits = len(self.result.hits)
        self.figure.text(
            0.02,
            0.95,
            _plain(cue, CUE_LETTERS),
            fontsize=13,
            fontweight="bold",
            parse_math=False,
            va="center",
        )
        subtitle = (
            f"{self.result.profile}: {hits} {'hit' if hits == 1 else 'hits'}, {len(self.dots)} memories drawn"
        )
        self.figure.text(0.02, 0.915, subtitle, fontsize=9, color=_GREY, va="center")

    def _link(self, link: Step, at: Mapping[str, tuple[float, float]]) -> None:
        from matplotlib.patches import FancyArrowPatch

        share = link.amount / (self.links[0].amount or 1.0)
        width = _THINNEST + (_THICKEST - _THINNEST) * share
        radius = {dot.key: self._diameter(dot) / 2 for dot in self.dots}
        self.axes.add_patch(
            FancyArrowPatch(
                at[link.source],
                at[link.target],
                connectionstyle="arc3,rad=0.12",
                arrowstyle=f"-|>,head_length={3 + width / 2:.2f},head_width={1.6 + width / 3:.2f}",
                shrinkA=radius[link.source],
                shrinkB=radius[link.target] + 1.0,
                linewidth=width,
                color=(*_LINK, 0.35 + 0.45 * share),
                mutation_scale=1.0,
                zorder=1,
            )
        )

    def _diameter(self, dot: _Dot) -> float:
        share = math.sqrt(max(dot.last, 0.0) / self.most)
        size = _SMALLEST + (_LARGEST - _SMALLEST) * share
        return size if dot.rank is None else max(size, _NUMBERED)

    def _dot(self, dot: _Dot, x: float, y: float) -> None:
        size = self._diameter(dot)
        ring = dot.first > 0
        self.axes.plot(
            [x],
            [y],
            marker="o",
            markersize=size,
            markerfacecolor=_colour(dot.last / self.most),
            markeredgecolor=_RING if ring else _RIM,
            markeredgewidth=2.4 if ring else 0.8,
            zorder=2,
        )
        if dot.rank is not None:
            dark = dot.last / self.most > _DARK
            self._text(
                x,
                y,
                str(dot.rank),
                ha="center",
                va="center_baseline",
                color="white" if dark else _INK,
                fontweight="bold",
                zorder=4,
            )

    def _name(self, dot: _Dot, at: Mapping[str, tuple[float, float]]) -> None:
        """The name of a memory, on the side with fewer of its links."""
        x, y = at[dot.key]
        ends = [(link.source, link.target) for link in self.links if dot.key in (link.source, link.target)]
        others = [at[b if a == dot.key else a][1] - y for a, b in ends]
        up = bool(others) and sum(others) < 0
        off = self._diameter(dot) / 2 + _GAP
        self.axes.annotate(
            _plain(dot.key, LETTERS),
            (x, y),
            (0.0, off if up else -off),
            textcoords="offset points",
            ha="center",
            va="bottom" if up else "top",
            fontsize=8 if dot.rank is None else 9,
            color=_GREY if dot.rank is None else _INK,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "alpha": 0.7, "edgecolor": "none"},
            parse_math=False,
            zorder=3,
        )

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        self.axes.text(x, y, _plain(text), parse_math=False, **style)

    def _legend(self) -> None:
        from matplotlib.lines import Line2D

        def mark(label: str, **style: Any) -> Any:
            return Line2D([], [], color="none", marker="o", label=label, **style)

        plain = {"markeredgecolor": _RIM, "markeredgewidth": 0.8}
        shares = (1.0, 0.3, 0.0)
        marks = [
            mark(
                f"activation {share * self.most:.3g}" if share else "hardly active",
                markersize=_SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(share) * 0.6,
                markerfacecolor=_colour(share),
                **plain,
            )
            for share in shares
        ]
        marks.append(
            mark("anchor", markersize=12, markerfacecolor="white", markeredgecolor=_RING, markeredgewidth=2.4)
        )
        marks.append(mark("hit, with its rank", markersize=12, markerfacecolor="white", **plain))
        if self.links:
            most, width = self.links[0].amount, _THICKEST
            marks += [
                Line2D([], [], color=(*_LINK, 0.8), linewidth=width, label=f"carried {most:.3g}"),
                Line2D([], [], color=(*_LINK, 0.4), linewidth=_THINNEST, label="carried little"),
            ]
        self.figure.legend(
            handles=marks,
            loc="center left",
            bbox_to_anchor=(0.79, 0.5),
            frameon=False,
            labelspacing=1.5,
            handletextpad=1.2,
            handlelength=1.8,
        )


def _colour(share: float) -> tuple[float, float, float]:
    """From nearly white to a deep blue."""
    low, high = np.array([0.93, 0.95, 0.98]), np.array([0.07, 0.27, 0.55])
    red, green, blue = (low + (high - low) * math.sqrt(min(1.0, max(0.0, share)))).tolist()
    return red, green, blue


def _plain(text: str, letters: int | None = None) -> str:
    """A text on one line without control characters, cut to a number of letters."""
    line = " ".join(text.split())
    cut = line if letters is None or len(line) <= letters else line[: letters - 1].rstrip() + "…"
    return without_hidden(cut, _MISSING)


def _select(result: Recall) -> tuple[list[Step], list[_Dot]]:
    """The links and memories to draw: hits, their paths, links that carried most, then the strongest anchors."""
    ranks = {hit.memory.key: rank for rank, hit in enumerate(result.hits, 1)}
    first = result.spread[0] if result.spread else {}
    last = result.spread[-1] if result.spread else {}
    paths = [end for hit in result.hits for step in hit.path for end in (step.source, step.target)]
    carrying = [end for step in result.carried for end in (step.source, step.target)]
    anchors = sorted(first, key=lambda key: (-first[key], key))
    led = dict.fromkeys([*ranks, *paths, *carrying])
    keys = [*led, *[key for key in anchors if key not in led][:IDLE]][:NODES]
    drawn = set(keys)
    links = [step for step in result.carried if step.source in drawn and step.target in drawn]
    score = {hit.memory.key: hit.score for hit in result.hits}
    dots = [
        _Dot(k, first.get(k, 0.0), last.get(k, 0.0 if last else score.get(k, 0.0)), ranks.get(k))
        for k in keys
    ]
    return links, dots


def _positions(dots: Sequence[_Dot], links: Sequence[Step]) -> dict[str, tuple[float, float]]:
    """The position of each memory, both coordinates in [0, 1]."""
    row = {dot.key: i for i, dot in enumerate(dots)}
    source = np.array([row[link.source] for link in links], np.int64)
    target = np.array([row[link.target] for link in links], np.int64)
    most = links[0].amount if links else 1.0
    weight = np.array([_STIFFNESS + link.amount / most for link in links], np.float64)
    at = positions(len(dots), source, target, weight)
    if len(at):
        low, high = at.min(axis=0), at.max(axis=0)
        at = np.where(high > low, (at - low) / np.where(high > low, high - low, 1.0), 0.5)
        at = _move_apart(at)
        at = _EDGE + (1 - 2 * _EDGE) * at
    return {key: (float(at[i][0]), float(at[i][1])) for key, i in row.items()}


def _move_apart(at: Floats) -> Floats:
    """Move overlapping memories apart, a little at a time."""
    for _ in range(_TURNS):
        gap = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.hypot(gap[..., 0] * _FLAT, gap[..., 1]), _TOUCHING)
        near = distance < _APART
        np.fill_diagonal(near, False)
        if not near.any():
            break
        push = np.where(near, (_APART - distance) / distance, 0.0)
        at = np.clip(at + _NUDGE * (gap * push[..., None]).sum(axis=1), 0.0, 1.0)
    return at


def positions(n: int, source: Ints, target: Ints, weight: Floats) -> Floats:
    """Place n nodes on a plane: an array of shape (n, 2) with mean 0, the same for the same links.

    ``source`` and ``target`` are the rows of the ends of links; a larger ``weight`` ≥ 0 pulls the ends closer. Linked
    nodes are near each other, others apart, without a seed.

    References
    ----------
    .. [1] Fruchterman, T. M. J. & Reingold, E. M. (1991). Graph drawing by force-directed placement. Software:
       Practice and Experience 21, 1129–1164: steps that a falling temperature keeps short.
    .. [2] Jacomy, M., Venturini, T., Heymann, S. & Bastian, M. (2014). ForceAtlas2. PLoS ONE 9, e98679: repulsion by
       degree, attraction by distance, and gravity, which keeps separate parts on one map.

    >>> near, far = np.linalg.norm(np.diff(positions(3, np.array([0]), np.array([1]), np.ones(1)), axis=0), axis=1)
    >>> bool(near < far)
    True
    """
    mass: Floats = 1.0 + np.bincount(np.concatenate([source, target]), minlength=n).astype(np.float64)
    at = _spiral(np.argsort(-mass, kind="stable"))
    for step in range(_STEPS):
        heat = math.sqrt(n) * (1 - step / _STEPS) + _COLDEST
        gap = at[:, None, :] - at[None, :, :]
        share = mass[:, None] * mass / np.maximum((gap**2).sum(axis=2), _NEAREST**2)
        push = (gap * share[..., None]).sum(axis=1) - _GRAVITY * mass[:, None] * at
        pull = (at[target] - at[source]) * (_ATTRACTION * weight)[:, None]
        np.add.at(push, source, pull)
        np.add.at(push, target, -pull)
        push /= mass[:, None]
        length = np.maximum(np.linalg.norm(push, axis=1, keepdims=True), _TOUCHING)
        at += push / length * np.minimum(length, heat)
    centred: Floats = at - at.mean(axis=0) if n else at
    return centred


def _spiral(order: Ints) -> Floats:
    """Start positions on a sunflower spiral, the first of the order in the middle: deterministic, without ties."""
    place = np.argsort(order)
    radius, angle = np.sqrt(place + 0.5), place * _GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
