"""The page in a Chromium that renders in software: its first paint, and the frames that it draws of a large graph.

The server is a process of its own on loopback; ``make page`` must have built the page. A frame is counted when the
graph was dragged since the last. Needs a Chromium: ``tests/browser/finding.py`` says how to get one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import sync_playwright

import common
from priming import HashedEmbedder, Memory

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.browser.finding import REMEDY, find

FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
PATIENCE = 180_000
"""Milliseconds until a page that shows nothing is given up."""
DRAGGED = """frames => new Promise(end => {
  const layer = document.querySelector('.sigma-mouse'), box = layer.getBoundingClientRect();
  const send = (kind, x, y, target) => target.dispatchEvent(new MouseEvent(kind,
    {clientX: box.left + x, clientY: box.top + y, bubbles: true, buttons: 1}));
  send('mousedown', 400, 400, layer);
  const began = performance.now();
  let frame = 0;
  const next = () => {
    frame += 1;
    send('mousemove', 400 + 150 * Math.sin(frame / 10), 400 + 100 * Math.cos(frame / 10), document);
    if (frame < frames) return requestAnimationFrame(next);
    send('mouseup', 400, 400, document);
    end(1000 * frame / (performance.now() - began));
  };
  requestAnimationFrame(next);
})"""


def main() -> None:
    options = common.arguments(__doc__ or "").parse_args()
    path = find()
    if path is None:
        raise SystemExit(REMEDY)
    for count in (1_000,) if options.quick else (10_000, 50_000):
        with tempfile.TemporaryDirectory() as folder:
            measure(path, folder, count)


def measure(path: str, folder: str, count: int) -> None:
    """Print the figures of a store of so many memories, with two links each beside those to their nearest."""
    url = f"sqlite:///{folder}/memory.db"
    with Memory.open(url, embedder=HashedEmbedder(64)) as memory:
        memory.remember_many({"content": f"note {n}", "key": f"n{n}"} for n in range(count))
        ends = ((n, other) for n in range(1, count) for other in {n - 1, n // 3})
        memory.link_many({"source": f"n{n}", "target": f"n{other}"} for n, other in ends)
    command = [Path(sys.executable).parent / "priming", "serve", "--json", "--url", url, "--port", "0"]
    with ExitStack() as stack:
        pipe = subprocess.PIPE
        server = stack.enter_context(
            subprocess.Popen(command, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        )
        stack.callback(server.terminate)
        play = stack.enter_context(sync_playwright())
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["listening"]
        browser = play.chromium.launch(executable_path=path, args=[*FLAGS])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_selector(".spread[data-ready=true]")
        frames = page.evaluate(DRAGGED, 60)
        page.reload()
        painted = page.wait_for_function(PAINTED).json_value()
        print(f"{count:,} memories: first paint {painted:.0f} ms, {frames:.1f} frames a second")
        browser.close()


if __name__ == "__main__":
    main()
