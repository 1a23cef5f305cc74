import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.rows import each_row

from priming.config.params.limits import STORE
from priming.errors import ParamError
from priming.remember.drafts import Draft, draft

NAIVE = datetime(2024, 5, 17)
TEXT = {"content": "The disk was full."}

# Every row: what is given, the name that the message begins with, and words of its rule.
BAD = [
    ({}, "content", "must be a text"),
    ({"content": ""}, "content", "must not be blank"),
    ({"content": " \n\t "}, "content", "must not be blank"),
    ({"content": b"bytes"}, "content", "must be a text"),
    ({"content": "x" * (STORE.content_limit + 1)}, "content", "split it into parts"),
    ({"content": "x" * 10_000_000}, "content", "10,000,000 characters, at most 1,048,576"),
    ({"content": "nul \x00 inside"}, "content", "NUL"),
    ({"content": "lone \ud800 surrogate"}, "content", "surrogates"),
    ({**TEXT, "kind": "dream"}, "kind", "one of episode, fact"),
    ({**TEXT, "kind": ["fact"]}, "kind", "one of episode, fact"),
    ({**TEXT, "importance": 1.01}, "importance", "[0, 1]"),
    ({**TEXT, "importance": -0.01}, "importance", "[0, 1]"),
    ({**TEXT, "importance": math.nan}, "importance", "[0, 1]"),
    ({**TEXT, "importance": "high"}, "importance", "[0, 1]"),
    ({**TEXT, "importance": True}, "importance", "[0, 1]"),
    ({**TEXT, "occurred_at": NAIVE}, "occurred_at", "time zone"),
    ({**TEXT, "occurred_at": "2024-05-17"}, "occurred_at", "must be a datetime"),
    ({**TEXT, "outcome": "splendid"}, "outcome", "one of success"),
    ({**TEXT, "trust": "boss"}, "trust", "one of untrusted"),
    ({**TEXT, "heading": "two\nlines"}, "heading", "one printable line"),
    ({**TEXT, "heading": " "}, "heading", "one printable line"),
    ({**TEXT, "session": "s" * 513}, "session", "512"),
    ({**TEXT, "speaker": "bell \a"}, "speaker", "one printable line"),
    ({**TEXT, "speaker": "lone \udfff"}, "speaker", "surrogates"),
    ({**TEXT, "key": "\x00"}, "key", "NUL"),
    ({**TEXT, "source": 7}, "source", "must be a text"),
    ({**TEXT, "tags": "urgent"}, "tags", "list of texts"),
    ({**TEXT, "tags": [7]}, "tags", "must be a text"),
    ({**TEXT, "tags": [None]}, "tags", "must be a text"),
    ({**TEXT, "tags": {"a", 7}}, "tags", "must be a text"),
    ({**TEXT, "metadata": ["a"]}, "metadata", "must be a mapping"),
    ({**TEXT, "metadata": {"at": NAIVE}}, "metadata", "what JSON holds"),
    ({**TEXT, "metadata": {"ratio": math.inf}}, "metadata", "what JSON holds"),
    ({**TEXT, "metadata": {"name": "\ud800"}}, "metadata", "what JSON holds"),
    ({**TEXT, "when": "python"}, "when", "mapping of predicates"),
    ({**TEXT, "when": {"language": {"is": "python"}}}, "when.language", "must be a text, a number"),
    ({**TEXT, "when": {"language": []}}, "when.language", "must be a text, a number"),
    ({**TEXT, "when": {"ratio": math.nan}}, "when.ratio", "must be a text, a number"),
    ({**TEXT, "when": {"file": "\ud800"}}, "when.file", "surrogates"),
    ({**TEXT, "when": {"file": ["a", "b\x00"]}}, "when.file", "NUL"),
    ({**TEXT, "when": {"\ud800": "a"}}, "when", "surrogates"),
    ({**TEXT, "colour": "red"}, "item", "is not an argument of remember"),
]


@each_row(("arguments", "name", "rule"), BAD)
def test_a_bad_argument_is_named_with_its_value_and_the_rule(arguments, name, rule):
    with pytest.raises(ParamError) as caught:
        draft(arguments)
    message = str(caught.value)
    assert message.startswith(f"{name} = ")
    assert rule in message
    assert len(message) < 400
    assert caught.value.violations == (message,)


def test_what_is_no_mapping_is_refused():
    with pytest.raises(ParamError, match="must be a mapping of the arguments of remember"):
        draft("The disk was full.")


@each_row("depth", [100, 600, 100_000])
def test_metadata_nested_beyond_reason_is_refused(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(ParamError, match="metadata"):
        draft({**TEXT, "metadata": {"deep": nested}})


def test_the_defaults_are_those_of_remember():
    assert draft(TEXT) == Draft("The disk was full.")
    assert draft({**TEXT, "heading": None, "tags": (), "metadata": None}) == Draft("The disk was full.")


@each_row("name", ["山田\u3000太郎", "Jean\u00a0Valjean", "می\u200cخواهم", "👩\u200d💻 Mia", "Ada"])
def test_names_of_every_script_are_one_line(name):
    assert draft({**TEXT, "speaker": name, "heading": name, "session": name}).speaker == name


@each_row("end", ["\n", "\r", "\u2028", "\u2029", "\x85", "\x1b"])
def test_a_name_holds_no_line_break_and_no_control_character(end):
    with pytest.raises(ParamError, match="one printable line"):
        draft({**TEXT, "speaker": f"Ada{end}x"})


def test_a_time_is_kept_in_utc():
    at = datetime(2024, 5, 17, 2, tzinfo=timezone(timedelta(hours=2)))
    assert draft({**TEXT, "occurred_at": at}).occurred_at == datetime(2024, 5, 17, tzinfo=UTC)
    assert draft({**TEXT, "occurred_at": at}).occurred_at.tzinfo is UTC


def test_tags_keep_their_order_and_stand_once():
    assert draft({**TEXT, "tags": ["b", "a", "b"]}).tags == ("b", "a")
    assert draft({**TEXT, "tags": {"b", "a"}}).tags == ("a", "b")


def test_metadata_is_a_copy_in_the_form_of_json():
    arguments = {"pair": (1, 2), "inner": {"x": None}}
    value = draft({**TEXT, "metadata": arguments}).metadata
    assert value == {"pair": [1, 2], "inner": {"x": None}}
    arguments["inner"]["x"] = 1
    assert value["inner"] == {"x": None}


def test_predicates_may_be_lists_of_alternatives():
    value = draft({**TEXT, "when": {"language": ("go", "rust"), "ci": True, "level": 10**400}}).when
    assert value == {"language": ["go", "rust"], "ci": True, "level": 10**400}


AT = datetime(2024, 5, 17, tzinfo=UTC)


@each_row(
    "other",
    [
        {"kind": "fact"},
        {"heading": "Disk"},
        {"speaker": "Ada"},
        {"content": "The disk was full!"},
        {"session": "monday"},
        {"occurred_at": AT},
    ],
)
def test_a_digest_tells_apart_by_kind_title_text_session_and_time(other):
    assert draft({**TEXT, **other}).digest != draft(TEXT).digest


def test_a_digest_does_not_depend_on_how_important_or_tagged_a_memory_is():
    other = draft({**TEXT, "importance": 0.9, "tags": ["a"], "source": "x", "metadata": {"a": 1}})
    assert other.digest == draft(TEXT).digest


def test_a_text_stored_with_white_space_by_an_earlier_version_is_found_again(memory):
    memory.remember("Oats grow anywhere.")
    old = draft({"content": "Oats grow anywhere.\n"}).digests[1]
    changed = {"digest": old, "content": "Oats grow anywhere.\n"}
    memory.store._db.change("default", "UPDATE versions SET digest = :digest, content = :content", changed)
    assert memory.remember("Oats grow anywhere.\n").status == "duplicate"


def test_letters_composed_in_another_way_are_the_same_text(memory):
    memory.remember("Z\u00fcrich is wet.")
    assert memory.remember("Zu\u0308rich is wet.").status == "duplicate"


@pytest.mark.parametrize(("name", "most"), [("tags", 256), ("files", 1_000)])
def test_a_memory_has_a_limited_number_of_tags_and_files(name, most):
    names = [f"n{number}" for number in range(most)]
    assert len(getattr(draft({**TEXT, name: names}), name)) == most
    with pytest.raises(ParamError, match=rf"{name} = .* has {most + 1:,} entries, at most {most:,}"):
        draft({**TEXT, name: [*names, "one more"]})
