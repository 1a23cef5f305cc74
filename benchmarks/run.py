"""Every benchmark, one after the other: speed, and quality where its data is (``--data``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from common import arguments

SPEED = ("spread", "memory", "recall", "near", "sleep", "mcp_start", "serving", "scaling", "hooks")
QUALITY = ("quality", "learning")


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--data", help="the folder of the sets that quality is measured on")
    options = parser.parse_args()
    flags = ["--quick"] if options.quick else []
    where = [] if options.data is None else ["--data", options.data]
    here = Path(__file__).parent
    for name, more in (*((one, []) for one in SPEED), *((one, where) for one in QUALITY)):
        subprocess.run([sys.executable, str(here / f"{name}.py"), *flags, *more], check=True)


if __name__ == "__main__":
    main()
