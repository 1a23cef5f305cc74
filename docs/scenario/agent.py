"""A stand-in for a language model: it plans one task, and does it well once it sees why it was not."""

import json
import re
import sys
from pathlib import Path

prompt = sys.stdin.read()
if prompt.startswith("PRIMING-PHASE: reason"):
    task = {
        "objective": "Write down on what day we release",
        "delta": ["release.txt"],
        "verify": "grep -c Thursday release.txt",
    }
    answer = {
        "assessment": "simple",
        "tasks": [task],
        "question": None,
        "impasse": None,
        "reasoning": "One file.",
    }
else:
    known = re.findall(r"^\[(\S+)\].*Thursday, never Friday", prompt, re.MULTILINE)
    day = "Friday" if "This is attempt 1." in prompt and not known else "Thursday"
    Path("release.txt").write_text(f"We release on {day}.\n", "utf-8")
    answer = {
        "status": "delivered",
        "details": f"Wrote that it is {day}.",
        "utilized": known,
        "obstacle": None,
        "learning": None if day == "Friday" else "It is Thursday, never Friday.",
    }
sys.stdout.write(json.dumps(answer))
