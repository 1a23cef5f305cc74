"""What belongs to another namespace is, on every surface, as what belongs to nobody.

Two namespaces with the same content are asked the same, in the same order. One is sent ids and names of what a third
namespace has, the other ids and names that nobody has: their answers must be the same bytes, but for these.
"""

from __future__ import annotations

import json
import re
from contextlib import closing
from datetime import timedelta
from functools import partial
from uuid import uuid4

import anyio
import pytest
from tests.server.postgres.server import empty
from tests.server.scene import example

from priming.config.caller import Caller, calling
from priming.operations.schema import argument_names, request_schema
from priming.verbs.rows import BY_NAME, OPS, SERVED

from .foreign import FORGED, OWN, PLAIN, filled
from .worlds import (
    FAST,
    SECRETS,
    START,
    THEIRS,
    Transcript,
    Twins,
    Web,
    World,
    compared,
    differing,
    in_library,
    opened,
    over_the_socket,
    query,
    web,
)


def test_every_operation_and_each_of_its_arguments_is_tried():
    assert set(FORGED) == {op.name for op in OPS}
    for op in OPS:
        sent = {name for request in FORGED[op.name] for name in request}
        sent |= {name for request in FORGED[op.name] for item in request.get("items", ()) for name in item}
        names = {name for name in argument_names(op) if name not in PLAIN | OWN | FILES.get(op.name, set())}
        assert names <= sent, (
            f"{op.name}: which of its arguments name something that is stored? {names - sent}"
        )


FILES = {
    **{
        key: {"path", "previous", "salvage"}
        for key in ("export", "import_", "backup", "restore_backup", "pack_install")
    },
    **{
        key: {
            "yes",
            "deliberate",
            "fresh_context",
            "timeout",
            "max_attempts",
            "max_tasks",
            "budget_minutes",
            "answer",
        }
        for key in ("loop_run", "loop_think", "loop_resume")
    },
}
"""Arguments of operations for this machine only that name files, or say how an agent works."""


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def stores(request, tmp_path_factory):
    """The URLs of two stores of either kind."""
    if request.param == "sqlite":
        folder = tmp_path_factory.mktemp("tenants")
        yield [f"sqlite:///{folder}/{name}.db" for name in ("shared", "alone")]
        return
    server = request.getfixturevalue("postgres")
    yield [f"{server}&schema={name}" for name in ("shared", "alone")]
    for name in ("shared", "alone"):
        empty(server, name)


@pytest.fixture(scope="module")
def world(stores, tmp_path_factory):
    """A store with the namespace of another; each test has namespaces of its own."""
    with opened(stores[0], tmp_path_factory.mktemp("packs")) as new:
        yield new


@pytest.mark.parametrize(
    "ops", [[BY_NAME[name] for name in FAST], pytest.param(OPS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_what_another_has_is_as_what_nobody_has_in_the_library(world, ops):
    before = world.state()
    anyio.run(compared, Twins(world, f"library{len(ops)}"), partial(query, in_library, world), ops)
    assert world.state() == before


@pytest.mark.slow
def test_what_another_has_is_as_what_nobody_has_at_the_socket(world):
    before = world.state()
    anyio.run(compared, Twins(world, "socket"), partial(query, over_the_socket, world), SERVED)
    assert world.state() == before


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["http", "mcp"])
def test_what_another_has_is_as_what_nobody_has_over(world, surface):
    async def talk(asks, twins):
        await compared(twins, partial(query, getattr(asks, surface), world), SERVED)

    over_the_web(world, surface, talk)


def over_the_web(world, name, talk):
    """Play a scene with a client of the server and two namespaces, after which another has what it had."""

    async def play():
        async with web(world) as client:
            await talk(Web(client, world.tokens), Twins(world, name))

    before = world.state()
    anyio.run(play)
    assert world.state() == before


@pytest.mark.slow
def test_the_id_of_anothers_operation_is_as_free_as_any_for_ones_own(world):
    async def talk(asks, twins):
        for op in SERVED:
            if op.writes and not op.long:
                for name in ("operation", "memory"):
                    request = {"id": f"{{{name}}}", "request": example(op.name, {})}
                    await twins.ask(partial(asks.identified, op), request, op.name)

    over_the_web(world, "keys", talk)


@pytest.mark.slow
def test_the_job_of_another_is_as_one_that_never_was(world):
    async def talk(asks, twins):
        begun = await asks.client.post(f"/v1/{THEIRS}/jobs/export_lines", headers=asks.head(THEIRS), json={})
        world.real["job"], world.nobody["job"] = begun.json()["id"], str(uuid4())
        for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
            job = partial(asks.job, method, path)
            assert (await twins.ask(job, {"id": "{job}"}, method)).startswith("404")

    over_the_web(world, "jobs", talk)


@pytest.mark.slow
def test_a_job_begins_whatever_its_request_names(world):
    async def talk(asks, twins):
        for op in SERVED:
            for request in FORGED[op.name] if op.long else ():
                await twins.ask(partial(asks.begun, op), request, op.name)

    over_the_web(world, "begun", talk)


@pytest.mark.slow
def test_the_memory_of_another_is_no_resource(world):
    async def talk(asks, twins):
        for name in ("key", "memory"):
            answer = await twins.ask(asks.resource, {"uri": f"priming://memory/{{{name}}}"}, name)
            assert "there is no memory" in answer

    over_the_web(world, "resources", talk)


@pytest.mark.parametrize(
    "ops", [[BY_NAME["get"]], pytest.param(OPS, marks=pytest.mark.slow)], ids=["one", "all"]
)
def test_a_token_of_another_namespace_learns_not_even_whether_it_exists(world, ops):
    """Whatever is sent to another's namespace is answered like what is sent to none: refused, before it is read."""

    async def talk():
        async with web(world) as client:
            asks = Web(client, world.tokens)
            for op in ops:
                for request in (
                    example(op.name, {}) if not op.local else {},
                    {"nonsense": 1},
                    *FORGED[op.name],
                ):
                    sent = filled(request, world.real)
                    for ask in (
                        asks.http,
                        asks.mcp,
                        partial(asks.http, path=f"jobs/{op.name}"),
                        partial(asks.http, path=f"jobs/{world.real['run']}", method="GET"),
                        partial(asks.http, path=f"jobs/{world.real['run']}", method="DELETE"),
                    ):
                        item, other = [
                            await ask(world, name, op, sent, of="ours") for name in (THEIRS, "none")
                        ]
                        assert item == other, (op.name, request)
                        assert item[:3] in ("403", "404", "405"), item
                        assert SECRETS.findall(item) == [], item

    before = world.state()
    anyio.run(talk)
    assert world.state() == before


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["library", "http", "mcp"])
@pytest.mark.parametrize("is_filled", [True, False], ids=["filled", "empty"])
def test_without_filters_the_answers_are_those_of_a_store_of_ones_own(world, stores, surface, is_filled):
    """Every operation, with what it must be given and no more, beside another's namespace and in a store without."""

    async def answers(store, namespace):
        transcript = Transcript(namespace, {}, {})
        store.clock.at = START
        ids = store.prepared(namespace) if is_filled else {}
        transcript.plain(json.dumps(list(ids.values())))
        async with web(store) as client:
            asks = Web(client, store.tokens)
            ask = in_library if surface == "library" else getattr(asks, surface)
            lines = []
            for op in SERVED:
                store.clock.at += timedelta(seconds=1)
                needed = set(request_schema(op).get("required", ()))
                request = {name: value for name, value in example(op.name, ids).items() if name in needed}
                with calling(Caller("token shop", everywhere=False)):
                    lines.append(
                        (op.name, request, transcript.plain(await ask(store, namespace, op, request)))
                    )
            return lines

    own, own_server = f"{surface}-{is_filled}", stores[0].startswith("postgresql")
    with closing(World(stores[1], "")) as alone:
        theirs, ours = anyio.run(answers, world, own), anyio.run(answers, alone, own)
    if own_server:
        theirs, ours = without_bytes(theirs), without_bytes(ours)
    for their, other in zip(theirs, ours, strict=True):
        assert their[2] == other[2], (their[0], their[1], differing(their[2], other[2]))
        assert SECRETS.findall(their[2]) == []


def without_bytes(lines):
    """Answers of PostgreSQL without sizes: it compresses rows, which have ids at random."""
    return [(name, request, re.sub(r"bytes\W+[\d,]+", "", answer)) for name, request, answer in lines]
