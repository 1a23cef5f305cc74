"""The words of arguments: what each means where no docstring says it, its choices, and what callers say instead."""

from __future__ import annotations

from collections.abc import Mapping

from priming.config.words import FORMATS, KINDS, OUTCOMES, RECALLED, RULES, STAGES, STATUSES, TRUST

CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": KINDS,
    "kinds": KINDS,
    "outcome": OUTCOMES,
    "trust": TRUST,
    "status": STATUSES,
    "rule": RULES,
    "stages": STAGES,
    "format": FORMATS,
    "tier": ("conscious", "automatic"),
}
"""Arguments that are one of a few words, or a list of them."""

OWN_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {("recall", "kinds"): RECALLED}
"""The words of an operation's argument, where they are not those of other operations."""

MEANINGS: Mapping[str, str] = {
    "content": "what to remember, in full sentences that can be understood on their own",
    "heading": "a title to find it under",
    "kind": "what it is: an episode (what happened), a fact, a procedure, a failure, a pattern …",
    "key": "a memory's key or id",
    "session": "the conversation that it belongs to",
    "speaker": "who said it",
    "occurred_at": "when it happened, ISO 8601 with a time zone",
    "tags": "words to file it under",
    "metadata": "anything else to keep with it",
    "when": 'where it applies, such as {"language": "go"}',
    "importance": "how much it matters, from 0 to 1",
    "outcome": "how it went",
    "source": "where it comes from",
    "trust": "how far its source is trusted",
    "files": "the paths of the files that it touches",
    "limit": "maximum number",
    "echo_guard": "whether text that a recall has just returned counts as an echo and is not stored",
    "cue": "the context of the question: file, language, task, environment, project, speaker, and others by name",
    "reason": "why, for the log",
    "relation": "the name of the relation, such as similar-to, requires, overrides or one of your own",
    "sign": "1: links of this relation bring activation, -1: they take it away; by default its name decides",
    "target": "key of the memory where the link ends",
    "weight": "strength from 0 to 1",
    "valid_at": "answer with what was true then, ISO 8601 with a time zone",
    "known_at": "answer with what was known then, ISO 8601 with a time zone",
    "since": "only from this time on, ISO 8601 with a time zone",
    "until": "only before this time, ISO 8601 with a time zone",
    "right": "what to do, as a rule that can be followed",
    "wrong": "what was done instead",
    "priority": "from 0 to 10: rules of higher priority are shown first",
    "operation_id": "the id of an operation of the log",
    "tokens": "the budget of what is shown, in tokens",
}
"""What arguments mean where the function's docstring does not say it."""

OTHER_WORDS: Mapping[str, str] = {
    "key": "id name memory memory_id memory_key",
    "recall_id": "id",
    "operation_id": "id operation",
    "run_id": "id",
    "proposal": "id",
    "content": "text memory note fact value",
    "right": "text content correction instead",
    "wrong": "mistake",
    "text": "query q question prompt",
    "task": "text query prompt",
    "objective": "text task",
    "query": "text question",
    "matching": "query text",
    "question": "query",
    "cue": "context when",
    "kind": "type",
    "kinds": "kind types",
    "heading": "title",
    "items": "memories",
    "terms": "term",
    "session": "session_id",
    "limit": "top_k k max_results",
    "tokens": "max_tokens budget",
    "filters": "filter",
    "echo_guard": "echo",
    "used": "helpful useful",
    "not_relevant": "irrelevant",
    "not_useful": "useless",
    "overridden": "contradicted",
    "d1": "since",
    "d2": "until",
}
"""Other words for an argument, wherever a verb has it and none of that name; the first line with a word counts."""
