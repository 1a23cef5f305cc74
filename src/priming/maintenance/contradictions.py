"""Contradictions: facts that give one subject different values, rules that disagree, and how to settle them.

An agent may judge two rules whose words leave open what the later changes; its answer is data, checked against a
schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import get_args

from priming.config.caller import Caller, calling
from priming.config.settings import Settings
from priming.config.values import dataclass
from priming.config.words import CONFLICTS, KEPT_BESIDE, is_trusted_as
from priming.core.arguments.checks import PAGE_LIMIT, check_count, check_text
from priming.errors import Conflict, NotFound
from priming.llm.agents import open_agent
from priming.llm.protocol import Agent, Schema, fenced, prompt
from priming.maintenance.replacing import deprecate, merge
from priming.namespace import Namespace
from priming.recall.entities import under_other_names
from priming.recall.relevance import done_instead, quiet_rules
from priming.remember.similar import stated
from priming.rules.disagreements import Disagreement, disagreements
from priming.rules.placement import is_unclear
from priming.rules.results import ConflictingFact, Review
from priming.storage.rows import LinkRow, RowChange
from priming.text.names import find
from priming.text.quotation import command, conditions_text, quote_text, visible
from priming.text.statements.judge import Judgement, JudgementKind, judge
from priming.text.statements.phrases import as_told
from priming.types import MemoryRecord, Operation

_QUESTIONS = 10
"""Most pairs that an agent is asked about at once, the latest first."""
_SHOWN = 100
"""Most letters of an agent's reason in the log."""


def review(memory: Namespace, *, limit: int = 50) -> list[Review]:
    """List facts and rules that contradict each other, and quiet rules, the latest first, with commands to settle it.

    Args:
        limit: the maximum number to list.

    Raises:
        ParamError: ``limit`` is outside its range.

    """
    most = check_count("limit", limit, 1, PAGE_LIMIT)
    with memory.reading() as now:
        unsettled = _without_former(_unsettled(memory, now))
        return memory.listed(contradiction for _, _, contradiction in unsettled[:most])


def keep_both(memory: Namespace, id: str) -> Operation:
    """Settle that both facts or rules of a contradiction may hold; ``review`` does not list them again.

    Args:
        id: the pair, as ``review`` and replies name it, such as ``office-lisbon+office-porto``.

    Raises:
        NotFound: ``review`` lists no contradiction with this id.

    """
    name = check_text("id", id)
    with memory.changing() as now:
        unsettled = _unsettled(memory, now)
        match = next(
            ((links, entry) for _, links, entry in unsettled if entry.id == name and entry.newer), None
        )
        if match is None:
            raise memory.not_found(
                f"there is no contradiction {name!r} to settle: review lists the existing ones"
            )
        links, contradiction = match
        keys = [each.key for each in (contradiction.older, contradiction.newer) if each is not None]
        older, newer = (memory.find(key, now).id for key in keys)
        both_hold = LinkRow(newer, older, KEPT_BESIDE, 0.0, now, given=True)
        rows = [RowChange(link, None) for link in links]
        if memory.stored(both_hold) is None:
            rows.append(RowChange(None, both_hold))
        message = f"{quote_text(keys[0])} and {quote_text(keys[1])} may both hold"
        return memory.to_operation(memory.write("keep-both", now, rows, message=message))


def settle(memory: Namespace, decide: RuleJudge, settled: set[tuple[str, int, str, int]]) -> list[Operation]:
    """Let an agent decide on pairs of rules that are unclear, the latest first, and carry out what it decides.

    Each decision is an operation of its own: the earlier rule is deprecated, or the later is merged into it, or both
    are kept. Left are the pairs in ``settled``, to which each is added, and those that differ in their conditions or
    of which the earlier is trusted more.

    Raises:
        AgentError: the agent gives no valid answer; what it decided before stands.

    """
    with memory.reading() as now:
        pairs = sorted(disagreements(memory, now), key=lambda pair: pair.at, reverse=True)
    done: list[Operation] = []
    for pair in [pair for pair in pairs if _may_decide(pair) and _versions(pair) not in settled][:_QUESTIONS]:
        settled.add(_versions(pair))
        decided = decide(pair.older.content, pair.newer.content)
        by = Caller("agent", f"settles: {decided.reason}"[:_SHOWN])
        with calling(by), memory.lock, suppress(Conflict, NotFound):
            with memory.reading() as now:
                texts = [memory.find(rule.id, now).content for rule in (pair.older, pair.newer)]
            if texts != [pair.older.content, pair.newer.content] or decided.kind == "unclear":
                continue
            if decided.kind == "changes":
                done.append(deprecate(memory, pair.older.id, by=pair.newer.id, reason=decided.reason))
            elif decided.kind == "same":
                done.append(merge(memory, pair.newer.id, pair.older.id))
            else:
                done.append(keep_both(memory, _name(pair)))
    return done


def _may_decide(pair: Disagreement) -> bool:
    """Tell whether an agent may settle a pair: it is unclear, holds in the same place, the later has the standing."""
    trust = pair.newer.trust, pair.older.trust
    return is_unclear(pair.change) and pair.older.when == pair.newer.when and is_trusted_as(*trust)


def _versions(pair: Disagreement) -> tuple[str, int, str, int]:
    """Return the ids and versions of two rules: what changed since is judged anew."""
    return pair.older.id, pair.older.version, pair.newer.id, pair.newer.version


def _name(pair: Disagreement) -> str:
    return f"{pair.older.key}+{pair.newer.key}"


Contradiction = tuple[datetime, Sequence[LinkRow], Review]
"""When it arose, its links, and how it is shown."""


def _unsettled(memory: Namespace, now: datetime) -> list[Contradiction]:
    """Return the contradictions of facts and of rules, the latest first."""
    unsettled = [*_facts(memory, now), *map(_rules, disagreements(memory, now)), *_quiet(memory, now)]
    return sorted(unsettled, key=lambda each: each[0], reverse=True)


def _without_former(unsettled: list[Contradiction]) -> list[Contradiction]:
    """Leave out the contradictions between whose statements another contradicts both: it is settled first."""
    pairs = [
        (each.older.key, each.newer.key) for *_, each in unsettled if each.newer and each.subject != "rules"
    ]
    later: dict[str, set[str]] = defaultdict(set)
    for older, newer in pairs:
        later[older].add(newer)
    former = {f"{a}+{b}" for a, b in pairs if any(b in later.get(other, ()) for other in later[a])}
    return [each for each in unsettled if each[2].id not in former]


def _quiet(memory: Namespace, now: datetime) -> list[Contradiction]:
    """Return the rules that were mostly overridden recently."""
    rules = memory.page_of(now, kinds=["behavior"])
    listed: list[Contradiction] = []
    for quiet in quiet_rules(memory, rules).values():
        rule = quiet.rule
        at = quiet.overridden[0].at if quiet.overridden else rule.use.last_used_at or now
        entry = Review(
            id=rule.key,
            subject="rule",
            slot=conditions_text(rule.when),
            older=ConflictingFact(rule.key, rule.content, rule.content, _stated_at(rule)),
            newer=None,
            commands=(
                command("confirmed", rule.key),
                command("supersede", rule.key, "TEXT"),
                command("deprecate", rule.key),
            ),
            reason=f"quiet: {quiet.reason}",
            kind="quiet-rule",
            key=rule.key,
            instead=done_instead(memory, quiet),
        )
        listed.append((at, (), entry))
    return listed


def _facts(memory: Namespace, now: datetime) -> list[Contradiction]:
    """Return contradictions with their links, where both facts are active and values for one slot still differ."""
    linked: dict[frozenset[str], list[LinkRow]] = {}
    for link in memory.rows(LinkRow, relation=CONFLICTS):
        linked.setdefault(frozenset((link.source, link.target)), []).append(link)
    ids = {end for pair in linked for end in pair}
    records = memory.records(now, ids=ids)
    facts = {fact.id: fact for fact in records.values() if stated(fact) and fact.status == "active"}
    unsettled: list[Contradiction] = []
    for pair, links in linked.items():
        if pair <= facts.keys():
            older, newer = _oldest_first([facts[links[0].target], facts[links[0].source]])
            at = max(link.created_at for link in links)
            change = _change(memory, older, newer, now)
            if change is not None:
                subject = " ".join(change.shared) or older.key
                unsettled.append((at, links, _review(older, newer, subject, "", change)))
    return unsettled


def _rules(pair: Disagreement) -> Contradiction:
    older, newer = pair.older, pair.newer
    place = conditions_text({**older.when, **newer.when})
    return pair.at, pair.links, _review(older, newer, "rules", place, pair.change, pair.reason)


def _oldest_first(pair: list[MemoryRecord]) -> list[MemoryRecord]:
    """Order a pair by when it was recorded, or began to hold later; of equals, the first stays first."""
    return sorted(pair, key=lambda record: _since(record) or datetime.min.replace(tzinfo=UTC))


def _change(memory: Namespace, older: MemoryRecord, newer: MemoryRecord, now: datetime) -> Judgement | None:
    """Return what the later of two facts changes, under whatever name it speaks of its subject; None if both hold."""
    own = find(older.content) if memory.working(now).any_merged else ()
    names = under_other_names(memory, older.content, own, now)
    later = as_told(newer.content, newer.speaker)
    changes = (judge(as_told(text, older.speaker), later) for text in (older.content, *names))
    return next((change for change in changes if change.kind == "changes"), None)


def _review(
    older: MemoryRecord,
    newer: MemoryRecord,
    subject: str,
    slot: str,
    change: Judgement,
    reason: str | None = None,
) -> Review:
    values = (" ".join(change.removed) or older.content, " ".join(change.added) or newer.content)
    return Review(
        id=f"{older.key}+{newer.key}",
        subject=subject,
        slot=slot,
        older=ConflictingFact(older.key, older.content, values[0], _stated_at(older)),
        newer=ConflictingFact(newer.key, newer.content, values[1], _stated_at(newer)),
        commands=_commands(older, newer),
        reason=reason,
    )


def _commands(older: MemoryRecord, newer: MemoryRecord) -> tuple[str, ...]:
    """Return the commands that settle a contradiction, each in its own way; the last leaves two with one text."""
    return (
        command("deprecate", older.key, by=newer.key),
        command("deprecate", newer.key, by=older.key),
        command("review", keep=f"{older.key}+{newer.key}"),
        command("supersede", older.key, newer.content),
    )


def _stated_at(record: MemoryRecord) -> datetime | None:
    return record.occurred_at or _since(record)


def _since(record: MemoryRecord) -> datetime | None:
    return max(filter(None, (record.recorded_at, record.valid_from)), default=None)


PACKAGE, PHASE = "priming.maintenance", "change"
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "change": {"enum": list(get_args(JudgementKind))},
        "reason": {"type": "string", "minLength": 1, "maxLength": 200},
    },
    "required": ["change", "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """Asks an agent what the later of two rules does to the earlier."""

    agent: Agent

    def __call__(self, earlier: str, later: str) -> Judgement:
        """Return its judgement; ``AgentError`` if it gives no valid answer."""
        places = {"earlier": fenced(quote_text(earlier)), "later": fenced(quote_text(later))}
        answer = self.agent.answer(prompt(PACKAGE, PHASE, places, SCHEMA), SCHEMA)
        return Judgement(
            answer["change"], f"{visible(' '.join(str(answer['reason']).split()))} (says the agent)"
        )


def users_judge(settings: Settings) -> RuleJudge | None:
    """Return what asks the agent that the user's settings name; None if they name none."""
    agent = open_agent(settings.agent())
    return None if agent is None else RuleJudge(agent)
