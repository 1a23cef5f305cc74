"""Workers on a Ray cluster. Ray is imported when a run names a cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import replace
from importlib import import_module
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

from priming.config.environment import locate
from priming.config.store_urls import without_password
from priming.errors import MissingExtra, ParamError, StoreError
from priming_server.fleet.task import LOST, FleetOutcome, FleetTask, carry_out
from priming_server.fleet.workers import Finished

_LOCAL = ("localhost", "127.", "::1", "/")
_CLIENT = "ray://"
"""Ray's own client, for machines that are not part of the cluster."""
_PATIENCE = 5.0
"""Seconds in which a cluster must accept a connection."""
_FIRST = 200
"""Letters of Ray's reason that are shown."""


class RayWorkers:
    """The machines of a cluster: a task a processor, at most ``window`` of them handed over at once."""

    def __init__(self, address: str, window: int) -> None:
        if address.startswith(_CLIENT):
            rule = "must be auto or HOST:PORT, on a machine of the cluster: Ray's client is not supported"
            raise ParamError("--address", address, rule)
        self._ray, self._window = _ray(), window
        self._running: dict[Any, int] = {}
        self._quiet = ExitStack()
        # Ray prints the end of a node, with pages of its state, to stdout, where the answer goes.
        self._quiet.enter_context(redirect_stdout(StringIO()))
        try:
            _check_answers(address)
            self._ray.init(
                address=address, log_to_driver=False, configure_logging=False, namespace="priming-fleet"
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            self._quiet.close()
            raise StoreError(
                f"there is no Ray cluster at {address!r}: {_short(error)}; start one by 'ray start --head', "
                "or leave --address out to run on this machine"
            ) from error
        # A retry is ours: it is counted, and bounded.
        remote = self._ray.remote(num_cpus=1, max_retries=0)
        self._carry_out = remote(_carry_out)

    @property
    def hosts(self) -> set[str]:
        """The addresses of the machines."""
        return {node["NodeManagerAddress"] for node in self._ray.nodes() if node["Alive"]}

    @property
    def free(self) -> int:
        """How many more tasks may be submitted now."""
        return self._window - len(self._running)

    def submit(self, task: FleetTask) -> None:
        """Hand a task to the cluster."""
        self._running[self._carry_out.remote(task)] = task.number

    def finished(self) -> Sequence[Finished]:
        """Wait until a task has ended, and return those that have."""
        ready, _ = self._ray.wait(list(self._running), num_returns=1)
        more, _ = self._ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        return [(self._running.pop(handle), self._outcome(handle)) for handle in {*ready, *more}]

    def close(self) -> None:
        """Cancel what is running, and leave the cluster."""
        for handle in self._running:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(handle, force=True)
        self._running = {}
        self._ray.shutdown()
        self._quiet.close()

    def _outcome(self, handle: Any) -> FleetOutcome:
        errors = self._ray.exceptions
        try:
            outcome: FleetOutcome = self._ray.get(handle)
        except errors.RayTaskError as error:
            return FleetOutcome("ray", f"the worker could not begin: {_short(error.cause or error)}")
        except errors.RayError as error:
            return FleetOutcome(LOST, f"{type(error).__name__}: {_short(error)}")
        return outcome


def check_reach(urls: Collection[str], hosts: Collection[str]) -> None:
    """Refuse stores of one machine on a cluster of several: the others would open another store, or none.

    Raises:
        ParamError: such a store.

    """
    if len(hosts) < 2:
        return
    for url in urls:
        if urlsplit(url).scheme == "sqlite":
            what = "is a file of this machine"
        elif is_local_server(url):
            what = "names a server by an address of this machine"
        else:
            continue
        raise ParamError(
            "url",
            without_password(url),
            f"{what}, and the cluster has {len(hosts)} machines ({', '.join(sorted(hosts))}): "
            "use postgresql:// with a host that all of them reach, or leave --address out",
        )


def is_local_server(url: str) -> bool:
    """Tell whether a URL of PostgreSQL leads each machine to itself: by loopback, or a socket in the file system."""
    url = locate(url).url or url
    parts = urlsplit(url)
    hosts = parse_qs(parts.query).get("host", [parts.hostname or "/"])
    return any(host.startswith(_LOCAL) for host in hosts)


def _carry_out(task: FleetTask) -> FleetOutcome:
    """Carry out a task on a node, which the outcome names."""
    context = _ray().get_runtime_context()
    outcome = carry_out(task)
    return replace(outcome, worker=f"node {context.get_node_id()[:8]}, {outcome.worker}")


def _check_answers(address: str) -> None:
    """Fail at once where nothing listens at an address: Ray would try again for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.hostname is not None and parts.port is not None:
        socket.create_connection((parts.hostname, parts.port), _PATIENCE).close()


def _ray() -> Any:
    """Import Ray, quiet: it sends no statistics of its use, and does not empty the variables of accelerators."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    with MissingExtra("fleet", "a cluster of Ray"):
        return import_module("ray")


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:_FIRST]
