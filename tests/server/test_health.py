"""Whether a server can be used, told within seconds whatever its store does; and what it makes once."""

import asyncio
from threading import Event

import pytest

from priming.errors import StoreError
from priming_server.health import MadeOnce, Readiness
from priming_server.postgres.translation import lost_commit
from priming_server.responses import Refused, refusal


def test_a_store_that_does_not_answer_makes_the_server_not_ready_and_is_asked_once():
    answers, query = Event(), []

    def ask():
        query.append(1)
        answers.wait()

    async def life():
        readiness = Readiness(ask, 0.02)
        for _ in range(3):
            with pytest.raises(Refused, match="the store cannot be read") as refused:
                await readiness.check()
            assert (refused.value.status, refused.value.code) == (503, "store")
        assert len(query) == 1
        answers.set()
        await readiness.close()
        await readiness.check()
        assert len(query) == 2

    asyncio.run(life())


def test_a_store_that_fails_makes_the_server_not_ready_until_it_answers():
    states = [StoreError("the disk is gone"), None]

    def ask():
        state = states.pop(0)
        if state is not None:
            raise state

    async def life():
        readiness = Readiness(ask, 60)
        with pytest.raises(Refused, match="log says why"):
            await readiness.check()
        await readiness.check()

    asyncio.run(life())


def test_what_is_made_once_is_the_same_for_all_and_made_again_after_an_error():
    new = []

    async def make():
        new.append(1)
        await asyncio.sleep(0)
        if len(new) == 1:
            raise ValueError
        return object()

    async def life():
        value = MadeOnce(make)
        with pytest.raises(ValueError):
            await value.get()
        first, second = await asyncio.gather(value.get(), value.get())
        assert first is second is await value.get()
        assert len(new) == 2

    asyncio.run(life())


def test_a_lost_commit_is_not_told_as_a_write_that_changed_nothing():
    answer = refusal(lost_commit("db.example/team"), everywhere=False).message
    assert "nobody knows whether the write was carried out" in answer
    assert "db.example" not in answer
    assert "nothing was changed" in refusal(StoreError("db.example is full"), everywhere=False).message
