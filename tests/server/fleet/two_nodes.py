"""Two nodes of Ray in a network of their own, a command on them, and the end of one node in the middle.

    unshare --net python two_nodes.py RECORDS AFTER ADDRESS COMMAND…

Runs the command with the cluster's address after ``--address``. Once the record of its run, in the folder RECORDS,
has AFTER namespaces, and both nodes did a part, the second node and its workers are killed; 0: never. The second node
has the address ADDRESS. Writes what the command printed, and its status, as JSON.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
_REQUEST = "16sh14x"
_SMALL = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}


def raise_loopback():
    """Turn the loopback interface on: a new network has it turned off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        answer = fcntl.ioctl(control, _GET_FLAGS, struct.pack(_REQUEST, b"lo", 0))
        flags = struct.unpack(_REQUEST, answer)[1]
        fcntl.ioctl(control, _SET_FLAGS, struct.pack(_REQUEST, b"lo", flags | _UP))


def below(pid):
    """A process and those that it started."""
    pids = [pid]
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            pids += [other for child in task.read_text().split() for other in below(int(child))]
    return pids


def kill(node, running):
    """End the processes of a node, by their ids, as a machine ends that loses its power, while one is at work.

    Returns whether one was, before the command had ended.
    """
    while not any(map(stopped_at_work, processes(node))):
        if running.poll() is not None:
            return False
        time.sleep(0.01)
    for pid in processes(node):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return True


def processes(node):
    return [
        pid for started in node.all_processes.values() for each in started for pid in below(each.process.pid)
    ]


def stopped_at_work(pid):
    """Stop a worker that carries a task out, which its title says; another goes on."""
    with suppress(ProcessLookupError, FileNotFoundError):
        if title(pid).startswith(b"ray::"):
            os.kill(pid, signal.SIGSTOP)
            if b"_carry_out" in title(pid):
                return True
            os.kill(pid, signal.SIGCONT)
    return False


def title(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def progress(folder):
    """How many namespaces the record of a run has, and on how many nodes they were."""
    lines = [line for path in Path(folder).glob("*.jsonl") for line in path.read_text().splitlines()[1:]]
    return len(lines), len({part[:14] for line in lines for part in line.split('"node ')[1:]})


def main(records, after, address, command):
    raise_loopback()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={**_SMALL, "node_ip_address": "127.0.0.1"})
    try:
        second = cluster.add_node(**_SMALL, node_ip_address=address)
        running = subprocess.Popen(
            [*command, "--address", cluster.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        killed_at = 0
        while running.poll() is None and after and not killed_at:
            number, nodes = progress(records)
            if number >= after and nodes == 2:
                killed_at = number if kill(second, running) else 0
            time.sleep(0.02)
        out, error = running.communicate()
        return {"out": out, "error": error, "status": running.returncode, "killed_at": killed_at}
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    answer = main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
    sys.stdout.write(json.dumps(answer))
