"""Finds a Chromium, or gets one: ``python tests/browser/finding.py`` before the tests.

It is installed from Debian's packages, which only root can do; elsewhere the remedy is told.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PLACES = (
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
PACKAGES = ("chromium-headless-shell", "chromium")
REMEDY = (
    "no Chromium was found, and the tests of pages need one: install it (Debian: apt-get install chromium; "
    "Fedora: dnf install chromium; macOS: brew install --cask chromium), or put a Chrome on the PATH"
)


def find() -> str | None:
    """The path of a Chromium, or None."""
    on_path = (shutil.which(name) for name in NAMES)
    return next((item for item in on_path if item), None) or next(
        (str(place) for place in PLACES if place.exists()), None
    )


def install() -> None:
    """Install Debian's, the one without a screen if there is one: the first of the packages that can be had."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "--quiet"], env=quiet, check=False)
    for package in PACKAGES:
        command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", package]
        if subprocess.run(command, env=quiet, check=False).returncode == 0 and find():
            return


def main() -> None:
    """Find one or install it; where neither can be, say so: the tests themselves will fail."""
    if find() is None and shutil.which("apt-get") and os.geteuid() == 0:
        install()
    if find() is None:
        sys.stderr.write(f"{REMEDY}\n")


if __name__ == "__main__":
    main()
