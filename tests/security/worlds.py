"""Two namespaces of a store that must not see a third, and the surfaces on which they are asked."""

from __future__ import annotations

import json
import re
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from uuid import uuid4

import httpx2
from tests.server.scene import prepare

from priming import FixedClock, HashedEmbedder
from priming.config.params.services import ServerParams
from priming.errors import PrimingError
from priming.operations.service import LocalService
from priming.serialization import encode, full_error_payload
from priming.storage.protocol import Trace
from priming.storage.questions import StoredNamespace
from priming.storage.rows import ActivationCount, LoopSessionRow
from priming_server import examples
from priming_server.access.tokens import Tokens
from priming_server.ethos.socket import reply
from priming_server.http import create_app
from priming_server.mcp_http import mounted
from priming_server.responses import json_bytes

from .foreign import FORGED, filled

THEIRS = "hers"
SECRETS = re.compile(r"\bhers\b|with 4711|Rome|Milan")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MOMENT = re.compile(r'"timings":\s*\{[^}]*\}|"digest":\s*"[0-9a-f]+"|-[0-9a-f]{6}\b')
HEADERS = ("x-request-id", "date", "content-length")
FAST = (
    "get",
    "forget",
    "operation",
    "undo",
    "apply",
    "run_used",
    "feedback",
    "why",
    "loop_task_get",
    "keep_both",
)
MAKING = ("remember", "remember_many", "learn", "pack_add", "import_lines")
"""Tried last: they give names to memories of one's own."""
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass
class World:
    """A store with the namespace of another, and what is asked of it."""

    url: str
    path: str
    clock: FixedClock = field(default_factory=lambda: FixedClock(START))
    real: dict[str, str] = field(default_factory=dict)
    """The ids and names of what another has."""
    nobody: dict[str, str] = field(default_factory=dict)
    """Ids and names of the same form, of nothing."""

    def __post_init__(self):
        self.service = LocalService(self.url, embedder=HashedEmbedder(64), clock=self.clock)
        self.tokens = Tokens(self.url)

    def close(self):
        self.service.close()
        self.tokens.close()

    def prepared(self, namespace):
        """Fill a namespace in which the examples work; what their ids stand for."""

        def call(operation, request, operation_id):
            return self.service.call(namespace, operation, request, operation_id=operation_id)

        self.clock.at = START
        return prepare(call)

    def fill_theirs(self):
        """What another has: something for each name in the requests."""
        call = partial(self.service.call, THEIRS)
        ids = self.prepared(THEIRS)
        note = {
            "content": "The vault opens with 4711.",
            "key": "vault-of-hers",
            "session": "session-of-hers",
            "source": "source-of-hers",
            "tags": ["tag-of-hers"],
            "files": ["src/hers.py"],
        }
        memory = call("remember", note)
        for place in ("Rome", "Milan"):
            call("remember", {"content": f"Grace's office is in {place}.", "kind": "fact", "session": place})
        call("link", {"source": "vault-of-hers", "target": "port", "relation": "bond-of-hers", "sign": -1})
        call(
            "pack_add",
            {"pack": filled(FORGED["pack_add"][0]["pack"], {"pack": "pack-of-hers", "key": "say-hers"})},
        )
        recall = call("recall", {"text": "which vault opens", "session": "session-of-hers"})
        self.real = {
            "key": "vault-of-hers",
            "session": "session-of-hers",
            "source": "source-of-hers",
            "tag": "tag-of-hers",
            "file": "src/hers.py",
            "relation": "bond-of-hers",
            "pack": "pack-of-hers",
            "both": "grace-s-office-is-in-rome+grace-s-office-is-in-milan",
            "memory": memory["id"],
            "operation": call("log", {"limit": 1})[0]["id"],
            "recall": recall["recall_id"],
            "proposal": ids[examples.PROPOSAL],
            "run": ids[examples.RUN],
            "loop": ids[examples.SESSION],
            "lines": call("export_lines", {})["lines"],
            "path": self.path,
            "person": "Grace",
        }
        others = {}
        self.nobody = {
            name: UUID.sub(lambda match: others.setdefault(match[0], str(uuid4())), value)
            .replace("hers", "none")
            .replace("grace", "glace")
            .replace("Grace", "Glace")
            for name, value in self.real.items()
        }

    def state(self):
        """All that another has, its recalls included."""
        with self.service.memory(THEIRS) as memory:
            return whole(memory.store)


def whole(store):
    """Every row of another, its log, recalls and sessions of the loop."""
    return [
        *(repr(row) for row in StoredNamespace(store, THEIRS).whole_rows()),
        *(repr(operation) for operation in store.operations(THEIRS, after=0)),
        *(repr(trace) for trace in store.rows(THEIRS, Trace, limit=1000)),
        *(repr(row) for row in store.rows(THEIRS, LoopSessionRow, limit=1000)),
        *(repr(row) for row in store.rows(THEIRS, ActivationCount)),
    ]


class Transcript:
    """The answers of one of two namespaces, with what differs between them named alike."""

    def __init__(self, namespace, names, ids):
        self.namespace, self.names, self.ids = namespace, names, ids
        self._numbers, self._next = {}, count()

    def plain(self, answer):
        text = answer.replace(self.namespace, "NAMESPACE")
        for name, value in sorted(self.names.items(), key=lambda item: -len(item[1])):
            if name != "lines":
                text = text.replace(value, f"<{name}>")
        return MOMENT.sub("", UUID.sub(lambda match: self._number(match[0]), text))

    def _number(self, name):
        if name not in self._numbers:
            self._numbers[name] = f"#{next(self._next)}"
        return self._numbers[name]


async def in_library(world, namespace, op, request):
    def call():
        try:
            if op.local:
                more = {"agent": None} if op.asks else {}
                with world.service.memory(namespace) as memory:
                    return json_bytes(encode(op.function(memory, **request, **more))).decode()
            return json_bytes(world.service.call(namespace, op.name, request)).decode()
        except PrimingError as error:
            return json_bytes(full_error_payload(error)).decode()

    return call()


async def over_the_socket(world, namespace, op, request):
    return json.dumps(reply(world.service, {"op": op.name, "namespace": namespace, "args": request}))


@asynccontextmanager
async def web(world):
    """A client of the server's application, and its tokens by namespace."""
    params = ServerParams(rate=0)
    app = create_app(
        world.service, world.tokens, params=params, mounts=[mounted(world.service)], clock=world.clock
    )
    carrier = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=carrier, base_url="http://localhost", timeout=60) as client,
    ):
        yield client


def shown(answer):
    """A response as text, without what differs between any two."""
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in HEADERS)
    return f"{answer.status_code} {headers} {answer.text}"


class Web:
    """Asks over HTTP or MCP, with a token of the namespace in the path, or with that of another."""

    def __init__(self, client, tokens):
        self.client, self.tokens, self.secrets = client, tokens, {}

    def head(self, namespace):
        if namespace not in self.secrets:
            self.secrets[namespace] = self.tokens.new(namespace, "shop", kind="admin").secret
        return {"Authorization": f"Bearer {self.secrets[namespace]}"}

    async def http(self, _world, namespace, op, request, *, of=None, path="", method="POST", **headers):
        head = {**self.head(of or namespace), **headers}
        body = None if method != "POST" else request
        at = f"/v1/{namespace}/{path or op.name}"
        return shown(await self.client.request(method, at, headers=head, json=body))

    async def mcp(self, _world, namespace, op, request, *, of=None, method="tools/call"):
        params = {"name": op.name, "arguments": request} if method == "tools/call" else request
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        head = {**self.head(of or namespace), "Accept": "application/json, text/event-stream"}
        at = f"/v1/{namespace}/mcp?tools=all"
        return shown(await self.client.post(at, headers=head, json=message))

    async def identified(self, op, namespace, sent):
        """An operation that is to have an id."""
        return await self.http(None, namespace, op, sent["request"], **{"Idempotency-Key": sent["id"]})

    async def job(self, method, path, namespace, sent):
        """What becomes of a job."""
        return await self.http(None, namespace, None, None, path=f"jobs/{sent['id']}{path}", method=method)

    async def begun(self, op, namespace, sent):
        """The beginning of a job, up to its id."""
        answer = await self.http(None, namespace, op, sent, path=f"jobs/{op.name}")
        return answer.partition("/jobs/")[0]

    async def resource(self, namespace, sent):
        """A resource of MCP."""
        return await self.mcp(None, namespace, None, sent, method="resources/read")


@contextmanager
def opened(url, folder):
    with closing(World(url, f"{folder}/pack.json")) as world:
        world.fill_theirs()
        yield world


class Twins:
    """Two namespaces of the same content; one is sent what another has, the other what nobody has."""

    def __init__(self, world, name):
        self.world, self.pair, self.tried = world, [], 0
        for namespace, names in ((f"{name}-ab", world.real), (f"{name}-ba", world.nobody)):
            ids = world.prepared(namespace)
            self.pair.append(Transcript(namespace, names, ids))
            self.pair[-1].plain(json.dumps(list(ids.values())))

    async def ask(self, ask, request, about):
        """Ask both; their answers, which must be the same but for the names."""
        self.world.clock.at += timedelta(seconds=1)
        self.tried += 1
        item, other = [
            twin.plain(
                await ask(
                    twin.namespace, filled(request, {**twin.names, "own loop": twin.ids[examples.SESSION]})
                )
            )
            for twin in self.pair
        ]
        assert item == other, (about, request, differing(item, other))
        assert SECRETS.findall(item) == [], (about, request, item)
        return item


async def compared(twins, ask, ops):
    """Ask about each name in the requests of each operation."""
    for op in sorted(ops, key=lambda op: op.name in MAKING):
        for request in FORGED[op.name]:
            await twins.ask(partial(ask, op), request, op.name)


async def query(ask, world, op, namespace, request):
    """What a surface answers, with the operation first."""
    return await ask(world, namespace, op, request)


def differing(item, other):
    """Where two texts begin to differ, for who reads the failure."""
    at = next((i for i, (a, b) in enumerate(zip(item, other, strict=False)) if a != b), 0)
    return item[max(0, at - 80) : at + 80], other[max(0, at - 80) : at + 80]
