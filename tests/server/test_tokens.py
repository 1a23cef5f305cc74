"""Tokens: made once, kept as a digest, revoked for good."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from tests.rows import each_row
from tests.storage.sqlite.files import make_store

from priming import FixedClock, Memory
from priming.errors import NotFound, ParamError
from priming_server.access.tokens import Tokens

OLD_SECRET = "prm_0936b105af5d_8d71c8411d5e415013becfa86aa7a099916f7c3ea8920ed8792a1c0ee9092e49"
"""Of a token in the rows of schema 6."""
NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock():
    return FixedClock(NOW)


@pytest.fixture
def tokens(tmp_path, clock):
    with Tokens(f"sqlite:///{tmp_path}/memory.db", clock=clock) as opened:
        yield opened


def test_a_token_is_of_a_namespace_and_has_32_random_bytes(tokens):
    new = tokens.new("shop", "Ada")
    assert re.fullmatch("prm_[0-9a-f]{12}_[0-9a-f]{64}", new.secret)
    assert (new.token.namespace, new.token.name, new.token.created_at) == ("shop", "Ada", NOW)
    assert tokens.new("shop").secret != new.secret
    assert new.secret not in repr(new)


def test_only_the_digest_of_the_secret_is_kept(tokens, tmp_path):
    secret = tokens.new("shop").secret.rpartition("_")[2]
    with closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
        rows = raw.execute("SELECT * FROM tokens").fetchall()
    assert hashlib.sha256(secret.encode()).digest() in rows[0]
    assert not [path for path in tmp_path.iterdir() if secret.encode() in path.read_bytes()]


def test_who_has_the_secret_is_let_in(tokens):
    new = tokens.new("shop")
    assert tokens.admitted(new.secret).id == new.token.id


@each_row(
    "spoil",
    [
        lambda secret: secret[:0],
        lambda secret: secret[:-1],
        lambda secret: secret + "0",
        lambda secret: secret.upper(),
        lambda secret: secret.replace("prm_", "xyz_"),
        lambda secret: secret.rpartition("_")[0] + "_",
        lambda secret: "prm__" + secret.rpartition("_")[2],
        lambda secret: secret.replace("prm_", "prm_%", 1),
        lambda secret: "prm_\x00_\ud800" + secret,
    ],
)
def test_who_has_not_is_not(tokens, spoil):
    secret = tokens.new("shop").secret
    assert tokens.admitted(spoil(secret)) is None


def test_a_revoked_token_is_refused_and_stays_in_the_list(tokens, clock):
    new = tokens.new("shop")
    clock.at += timedelta(hours=1)
    assert tokens.revoke(new.token.id).revoked_at == clock.at
    clock.at += timedelta(hours=1)
    assert tokens.revoke(new.token.id).revoked_at == NOW + timedelta(hours=1)
    assert tokens.admitted(new.secret) is None
    assert [record.id for record in tokens.list()] == [new.token.id]


def test_an_expired_token_is_refused_from_that_moment_on(tokens, clock):
    new = tokens.new("shop", lasts=timedelta(hours=2))
    assert tokens.list()[0].expires_at == NOW + timedelta(hours=2)
    clock.at = NOW + timedelta(hours=2, microseconds=-1)
    assert tokens.admitted(new.secret)
    clock.at = NOW + timedelta(hours=2)
    assert tokens.admitted(new.secret) is None
    assert tokens.needed()


@pytest.mark.parametrize("lasts", [timedelta(0), timedelta(days=-1), timedelta.max])
def test_a_token_cannot_end_before_it_begins_or_after_all_time(tokens, lasts):
    with pytest.raises(ParamError, match="lasts"):
        tokens.new("shop", lasts=lasts)
    assert tokens.list() == []


def test_a_token_of_no_kind_is_refused(tokens):
    with pytest.raises(ParamError, match="kind"):
        tokens.new("shop", kind="owner")


def test_a_token_that_is_not_there_cannot_be_revoked_and_is_not_repeated(tokens):
    with pytest.raises(NotFound) as caught:
        tokens.revoke("prm_secret")
    assert "secret" not in str(caught.value)


def test_another_process_sees_that_a_token_was_revoked(tokens, tmp_path):
    new = tokens.new("shop")
    with Tokens(f"sqlite:///{tmp_path}/memory.db") as other:
        assert other.admitted(new.secret)
        tokens.revoke(new.token.id)
        assert other.admitted(new.secret) is None


def test_tokens_are_needed_once_there_was_one(tokens):
    assert not tokens.needed()
    tokens.revoke(tokens.new("shop").token.id)
    assert tokens.needed()


def test_the_last_use_is_known_to_the_minute(tokens, clock):
    new = tokens.new("shop")
    assert tokens.list()[0].used_at is None
    for seconds, noted in ((0, 0), (59, 0), (60, 60), (119, 60)):
        clock.at = NOW + timedelta(seconds=seconds)
        tokens.admitted(new.secret)
        assert tokens.list()[0].used_at == NOW + timedelta(seconds=noted)


def test_who_is_let_in_does_not_wait_for_a_writer(tokens, tmp_path):
    new = tokens.new("shop")
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert tokens.admitted(new.secret).used_at is None
        writer.execute("ROLLBACK")
    assert tokens.list()[0].used_at is None


@pytest.mark.parametrize("namespace", ["", " ", "two\nlines", "x" * 513])
def test_a_namespace_that_cannot_be_has_no_token(tokens, namespace):
    with pytest.raises(ParamError, match="namespace"):
        tokens.new(namespace)
    assert tokens.list() == []


def test_a_backup_that_is_put_back_brings_no_revoked_token_back(tokens, tmp_path):
    new = tokens.new("default")
    with Memory.open(f"sqlite:///{tmp_path}/memory.db") as memory:
        memory.remember("x")
        saved = memory.backup(tmp_path / "saved.db")
        tokens.revoke(new.token.id)
        memory.restore_backup(saved)
    assert tokens.admitted(new.secret) is None
    assert tokens.list()[0].revoked_at is not None


def test_the_log_of_no_namespace_has_tokens(tokens, tmp_path):
    tokens.new("default")
    with Memory.open(f"sqlite:///{tmp_path}/memory.db") as memory:
        assert memory.log() == []


def test_tokens_lose_the_name_and_go_on(open_memory, url, postgres):
    for place in (url, f"{postgres}&schema=named_tokens"):
        memory = open_memory(place)
        memory.remember("Zenobia came.")
        with closing(Tokens(place)) as tokens:
            hers, other = (tokens.new("default", name) for name in ("Zenobia's laptop", "a script"))
            elsewhere = tokens.new("elsewhere", "Zenobia there")
            assert memory.purge(subject="Zenobia").erased["token_names"] == 1
            assert {token.id: token.name for token in tokens.list()} == {
                hers.token.id: None,
                other.token.id: "a script",
                elsewhere.token.id: "Zenobia there",
            }
            assert tokens.admitted(hers.secret) is not None


def test_the_tokens_of_a_store_of_schema_6_admit_whom_they_admitted(tmp_path):
    make_store(tmp_path / "memory.db", 6)
    clock = FixedClock(datetime(2026, 10, 2, tzinfo=UTC))
    with Tokens(f"sqlite:///{tmp_path}/memory.db", clock=clock) as tokens:
        assert [token.revoked_at is None for token in tokens.list()] == [True, False]
        admitted = tokens.admitted(OLD_SECRET)
        assert admitted is not None
        assert (admitted.namespace, admitted.kind, admitted.expires_at) == ("mine", "admin", None)
