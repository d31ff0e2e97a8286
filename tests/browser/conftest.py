"""A browser for tests of pages: Chromium, without a screen and without a graphics card.

It is looked for by `TACTION_BROWSER` and on the path; where the system's packages may be installed it is
installed once. Without one these tests are skipped.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from taction import BadInput
from taction.viewer.browser import find_browser, open_browser

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'taction[render]'")

HELP = "no Chromium: install it (apt-get install chromium) or name its program in TACTION_BROWSER"


def has_browser() -> bool:
    """Whether there is a Chromium."""
    try:
        return bool(find_browser())
    except BadInput:
        return False


def install_browser() -> None:
    """Install Chromium where that is allowed; of several processes one does."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    mark = Path(tempfile.gettempdir()) / "taction-install-chromium"
    with mark.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if has_browser() or mark.stat().st_size:  # tried before
            return
        lock.write("tried\n")
        lock.flush()
        with contextlib.suppress(subprocess.TimeoutExpired):
            command = ["apt-get", "install", "-y", "-qq", "chromium"]
            subprocess.run(command, timeout=240, capture_output=True, check=False)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """A browser that is closed in the end: while it is open no other can be in this process."""
    if not has_browser():
        install_browser()
    if not has_browser():
        pytest.skip(HELP)
    with open_browser() as browser:
        yield browser


class Watched:
    """A page opened from its file, and what it complained about or asked of the network."""

    def __init__(self, context, path: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def _hear(self, message) -> None:
        # what the driver says of reading pixels is Chromium's own way without a graphics card
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.complaints.append(f"{message.type}: {message.text}")

    @property
    def asked_for(self) -> list[str]:
        """What was asked of the network: everything that is no file."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    def ready(self, replay: int = 0) -> Watched:
        """Wait until a replay is there and drawn."""
        self.page.wait_for_function(
            f"window.taction?.replays[{replay}]?.canvas.dataset.ready", timeout=30_000
        )
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until what was asked for is drawn."""
        self.page.wait_for_function("taction.replays.every((p) => !p || !p.theatre.isStale)", timeout=30_000)

    def ask(self, script: str):
        """Value of an expression, in which p is the first replay."""
        return self.page.evaluate(f"() => {{ const p = window.taction?.replays[0]; return ({script}); }}")

    def seek(self, time: float) -> None:
        self.ask(f"p.pause() ?? p.seek({time!r})")
        self.settle()


@pytest.fixture(scope="module")
def open_page(browser) -> Iterator:
    """Open a file without a network: ``open_page(path, width=…, height=…, dark=…)`` gives a `Watched`."""
    contexts = []

    def open_file(path: Path, width: int = 1000, height: int = 640, dark: bool = False) -> Watched:
        scheme = "dark" if dark else "light"
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
        contexts.append(context)
        return Watched(context, path)

    yield open_file
    for context in contexts:
        context.close()
