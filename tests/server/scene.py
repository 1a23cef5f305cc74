"""What is in a namespace where every example of the OpenAPI document works."""

from __future__ import annotations

import copy

from priming_server import examples

OPERATIONS = sorted(examples.EXAMPLES)


def prepare(call):
    """Fill a namespace by ``call(operation, request, operation_id)``; what each of the examples' ids stands for."""

    def done(operation, request, operation_id=None):
        return call(operation, request, operation_id)

    done("remember", {"content": "The server listens on port 8080.", "kind": "fact", "key": "port"})
    done("remember", {"content": "Deploy by pushing the tag.", "kind": "procedure", "key": "deploy"})
    done("remember", {"content": "A note that is wrong."}, examples.OPERATION)
    done("learn", {"right": "Run the linter before you commit.", "cue": {"language": "go"}})
    done("learn", {"right": "Run the checks before you commit.", "cue": {"language": "go"}})
    done("remember", {"content": "An old rule of ours.", "kind": "behavior", "key": "old-rule"})
    done("deprecate", {"key": "old-rule"})
    done("remember", {"content": "We meet at ten.", "session": "monday"})
    done("remember", {"content": "We meet at ten.", "session": "tuesday"})
    done("pack_add", examples.EXAMPLES["pack_add"])
    for place in ("Lisbon", "Porto"):
        done("remember", {"content": f"Ada's office is in {place}.", "kind": "fact", "session": place})
    done("recall", {"text": "which port does the server listen on"})
    run = done("run_start", {"session": "build"})
    proposal = done("sleep", {"dry_run": True, "stages": ["light"]})
    session = done("loop_task_new_session", {"objective": "Release version 2.1"})["session_id"]
    done("loop_task_add", {"session": session, "seq": 1, "objective": "Write the release notes"})
    return {examples.RUN: run["id"], examples.PROPOSAL: proposal["id"], examples.SESSION: session}


def example(operation, ids):
    """The example of an operation, with the ids that there are."""
    request = copy.deepcopy(dict(examples.EXAMPLES[operation]))
    return {name: ids.get(item, item) if isinstance(item, str) else item for name, item in request.items()}
