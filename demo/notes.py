"""The scenes that are played on the notes of ``demo/story``."""

from __future__ import annotations

from pathlib import Path

from stage import Stage, counted

from priming import Cue, Memory
from priming.embedding.wordllama import StaticEmbedder
from priming.recall.formatting import quote_text
from priming.results import Recall
from priming_lab.contestants import Plain
from priming_lab.genre import load_genre

STORY = Path(__file__).resolve().parent / "story"
WHY = "Why were no tickets printed?"
REASON = "printer"
CARDS = "Why was a payment by card refused?"
IN_OTHER_WORDS = "Who refused payments by card, and why?"
WRONG, RIGHT = "bluefin-contract", "bluefin-hour"
TASK = "charge a dog and a child only once"
RULE = "Restart the fare-api in the lunch break."
REVERSED = "Never restart the fare-api in the lunch break."
PROMPT = "put the summer fares in and restart the fare-api"
SHOWN = 3


def remember(memory: Memory) -> int:
    """Store the notes that are not there yet; returns how many there are."""
    items = load_genre(STORY).parts[0].items
    memory.remember_many([item.arguments() for item in items])
    return len(items)


def association(stage: Stage, memory: Memory) -> None:
    """An answer that only a shared name leads to, and its rank by words and by vectors."""
    stage.scene("An answer that shares no word with the question")
    recall = stage.command(f'priming recall "{WHY}"', lambda: memory.recall(WHY))
    for rank, hit in enumerate(recall.hits[:2], 1):
        stage.hit(rank, hit)
    place = _place(recall, REASON)
    ranks = ", ".join(f"{name} {rank or 'not at all'}" for name, rank in _plain_ranks(WHY, REASON).items())
    stage.say(
        f"The first note says what happened, and {REASON}, at place {place or 'none'}, says why: it jams below zero."
        f" The name Tern, which both share, led there. Places of {REASON} without links, on the same texts: {ranks}."
    )


def _plain_ranks(question: str, key: str) -> dict[str, int | None]:
    """The place of a note by BM25, by cosine and by both, over the same texts and vectors."""
    part = load_genre(STORY).parts[0]
    embedder = StaticEmbedder()
    vectors, cue = embedder.embed([item.indexed for item in part.items]), embedder.embed([question])[0]
    ranks: dict[str, int | None] = {}
    for how, shown in (("bm25", "BM25"), ("cosine", "vectors"), ("hybrid", "both")):
        method = Plain(how)
        method.load(part, vectors)
        keys = list(method.search(question, cue, len(part.items)).keys)
        ranks[shown] = keys.index(key) + 1 if key in keys else None
    return ranks


def _place(recall: Recall, key: str) -> int | None:
    """The rank of a memory in an answer."""
    return next((rank for rank, hit in enumerate(recall.hits, 1) if hit.memory.key == key), None)


def files(stage: Stage, memory: Memory) -> None:
    """The files that notes concern, for a task."""
    answer = stage.command(f'priming files "{TASK}"', lambda: memory.files(TASK, limit=SHOWN, reasons=1))
    for rank, file in enumerate(answer.files, 1):
        stage.say(f"{rank:2}  {file.path}", "cyan")
        for reason in file.reasons:
            stage.inside(f"{quote_text(reason.gist)} {reason.key} ─touches→ {file.path}", "green")


def verdict(stage: Stage, memory: Memory) -> None:
    """A wrong hit is marked; the same matter, asked in other words, before and after."""
    stage.scene("A wrong hit, marked")
    before = memory.recall(IN_OTHER_WORDS)
    line = f'priming recall "{CARDS}"'
    recall = stage.command(line, lambda: memory.recall(CARDS))
    for rank, hit in enumerate(recall.hits, 1):
        if hit.memory.key in (WRONG, RIGHT):
            stage.hit(
                rank,
                hit,
                "wrong: what payments cost" if hit.memory.key == WRONG else "the reason",
            )
    if _place(recall, WRONG) is None:
        stage.say(f"An earlier run marked {WRONG}: it is not returned any more.")
        return
    marked = stage.command(
        f"priming not-relevant {WRONG}", lambda: memory.feedback(recall.recall_id, not_relevant=[WRONG])
    )
    stage.inside((marked.message or "").splitlines()[0])
    after = stage.command(f'priming recall "{IN_OTHER_WORDS}"', lambda: memory.recall(IN_OTHER_WORDS))
    for key in (RIGHT, WRONG):
        places = [_place(answer, key) for answer in (before, after)]
        old, new = (f"place {place}" if place else "not returned" for place in places)
        stage.inside(f"{key:<{len(WRONG)}}  {old} before, {new} now", "green" if key == RIGHT else "red")
    stage.say(
        "The links that led to the wrong note are weaker, and for questions like this it is held to be improbable."
        " 'priming undo last' takes it back."
    )


def correction(stage: Stage, memory: Memory) -> None:
    """A rule is learned and reversed: what the agent hears, before and after."""
    stage.scene("A corrected rule, in force")
    stage.command(f'priming learn "{RULE}"', lambda: memory.learn(RULE))
    _hear(stage, memory)
    learned = stage.command(f'priming learn "{REVERSED}"', lambda: memory.learn(REVERSED))
    stage.inside(learned.reasons[0])
    _hear(stage, memory)
    versions = memory.history(learned.key)
    links = ", ".join(f"{link.source} ─{link.relation}→ {link.target}" for link in learned.links)
    stage.inside(links, "green")
    stage.say(
        f"The rule has {counted(len(versions), 'version')}, which 'priming history' shows; only the last is heard."
        " Its key is made of its first text, and stays."
    )


def _hear(stage: Stage, memory: Memory) -> None:
    """What a hook gives an agent before it begins a task."""
    rules = stage.command(f'priming active "{PROMPT}"', lambda: memory.active(Cue(text=PROMPT)))
    for line in rules.text.splitlines()[1:]:
        stage.inside(f"the agent hears: {line}")
    if not rules.hits:
        stage.inside(f"the agent hears nothing: {rules.reason}")
