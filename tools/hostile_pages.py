"""Pages with hostile names, opened in Chromium: what ran, what was asked for, what is no text.

Every page is made twice, with hostile and with harmless names. Both must have the same elements and the same
attributes that act; the title must be the one that was meant; nothing may be asked of the network; and the
names must be there as text.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from hostile_words import OWNED
from taction._core.errors import printable
from taction.report.shown_text import visible
from taction.viewer.browser import open_browser

PATIENCE = 60_000  # for a replay to be drawn [ms]
OWN = ("file:", "data:", "blob:", "about:")  # addresses that a page may have
DRAWN = "window.taction ? taction.replays.every((p) => !p || p.canvas.dataset.ready) : true"
ELEMENTS = "[...document.querySelectorAll('*')].map((e) => e.tagName.toLowerCase())"
LOADS = "src|href|srcdoc|action|data|formaction|poster|background|srcset"
ACTS = (
    "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])"
    f".filter((a) => /^on/.test(a.name) || /^({LOADS})$/.test(a.name)).map((a) => `${{a.name}}=${{a.value}}`)"
    ".filter((text) => !/^(src|href)=(data:|client\\.js\\?)/.test(text))"
)
TEXT = "document.title + ' ' + document.body.textContent"


@dataclass
class Seen:
    """What came of a page.

    Attributes:
        title: of the page in the end.
        text: all of it.
        elements: how many of each kind there are.
        executed: what a script of a name left behind, or asked for.
        acts: attributes that run something or load something.
        raw: errors of the page's own scripts.
    """

    title: str = ""
    text: str = ""
    elements: Counter[str] = field(default_factory=Counter)
    executed: list[str] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)


class Watch:
    """Opens pages and listens: to a page's errors, its requests, and at the address that names ask for.

    Args:
        browser: of Playwright.
        beacon: the server that names ask for something.
    """

    def __init__(self, browser: Any, beacon: Beacon) -> None:
        # without the policy that forbids scripts of others: pages must do without that net
        self._context, self._beacon = browser.new_context(bypass_csp=True), beacon

    def open(self, address: str, own: Sequence[str] = OWN) -> tuple[Any, Seen]:
        """A page, watched from its first byte on; ``own`` are beginnings of addresses that it may ask for."""
        seen, page = Seen(), self._context.new_page()
        self._beacon.asked.clear()
        page.on("pageerror", lambda error: seen.raw.append(f"uncaught: {error}"))
        page.on("dialog", lambda dialog: (seen.executed.append("a dialog"), dialog.dismiss()))
        page.on("popup", lambda _: seen.executed.append("a window"))
        page.on("request", lambda r: r.url.startswith(tuple(own)) or seen.executed.append(r.url))
        page.goto(address)
        return page, seen

    def look(self, page: Any, seen: Seen) -> Seen:
        """What there is in a page when everything was drawn and every script had its time."""
        page.wait_for_function(DRAWN, timeout=PATIENCE)
        page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
        seen.title, seen.text = page.title(), page.evaluate(TEXT)
        seen.elements, seen.acts = Counter(page.evaluate(ELEMENTS)), page.evaluate(ACTS)
        if page.evaluate("window.__owned") is not None or OWNED in seen.title:
            seen.executed.append(f"window.__owned, title {seen.title[:40]!r}")
        seen.executed += self._beacon.asked
        return seen

    def see(self, path: Path) -> Seen:
        """What came of a file."""
        page, seen = self.open(path.as_uri())
        try:
            return self.look(page, seen)
        finally:
            page.close()

    def compare(
        self,
        make: Callable[[Sequence[str], Path], Path],
        names: Sequence[str],
        folder: Path,
        shown: bool = True,
    ) -> dict[str, list[str]]:
        """What is wrong with the page that a function makes of names, by kind; ``shown``: they are text.

        Raises:
            TactionError: the page is refused.
        """
        harmless = [f"harmless {k}" for k in range(len(names))]
        hostile, other = (
            self.see(make(names, folder / "page.html")),
            self.see(make(harmless, folder / "page.html")),
        )
        escapes = [
            f"{count - other.elements[tag]} more of <{tag}>"
            for tag, count in hostile.elements.items()
            if count > other.elements[tag]
        ]
        escapes += [act for act in hostile.acts if act not in other.acts]
        escapes += [f"not shown: {name}" for name in names if shown and not is_shown(name, hostile.text)]
        return {"executed": hostile.executed, "escapes": escapes, "raw": hostile.raw}


def is_shown(name: str, text: str) -> bool:
    """Whether a name is part of a text, wherever its lines break; escapes stand for what cannot be shown."""
    flat = "".join(text.split())
    return any("".join(way.split()) in flat for way in (printable(name), visible(name)))


class Beacon:
    """A server that names ask for something; nobody else does.

    Attributes:
        address: where it is.
        asked: what was asked for.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Listener(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(f"asked for {self.path}")
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
        self.address = f"http://127.0.0.1:{self._server.server_port}/owned"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def watched_browser() -> Iterator[tuple[Watch, Beacon]]:
    """Chromium, and the address that names ask for.

    Raises:
        BadInput: there is none.
    """
    beacon = Beacon()
    try:
        with open_browser() as browser:
            yield Watch(browser, beacon), beacon
    finally:
        beacon.close()
