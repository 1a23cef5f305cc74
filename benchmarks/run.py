"""Every benchmark, one after the other; flags are passed on (``--quick``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).parent
    for name in ("spread", "memory", "sleep", "mcp_start", "serving", "hooks"):
        subprocess.run([sys.executable, str(here / f"{name}.py"), *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
