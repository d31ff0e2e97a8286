"""A browser without a screen: Chromium, Chrome or Edge where one is installed, driven by Playwright.

Nothing is fetched: the browser is the machine's own. It draws in software, so that it needs no graphics card
and every machine draws alike.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from taction._core.errors import BadInput

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
# Drawing in software, the page itself too, as a browser without a graphics card does; the sandbox of a
# browser does not work for root, and we open our own pages only.
ARGUMENTS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--hide-scrollbars",
)


def find_browser() -> str:
    """Path of a browser: that of the variable TACTION_BROWSER, or one that is installed.

    Raises:
        BadInput: there is none.
    """
    asked = os.environ.get("TACTION_BROWSER")
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise BadInput(f"TACTION_BROWSER: {asked} is no program")
        return found
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    for place in PLACES:
        if Path(place).exists():
            return place
    raise BadInput(
        "pictures and films need Chromium, Chrome or Edge (on Debian: apt install chromium); "
        "TACTION_BROWSER names another place"
    )


@contextmanager
def open_browser() -> Iterator[Any]:
    """A browser of Playwright, closed at the end.

    Raises:
        BadInput: no browser, or Playwright is not installed.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise BadInput("pictures and films need Playwright (pip install 'taction[render]')") from None
    path = find_browser()
    if _is_in_loop():
        raise BadInput(
            "no pictures or films inside an event loop, as in a notebook: use the command taction render"
        )
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        except Error as error:
            raise BadInput(f"{path} does not start ({str(error).splitlines()[0]})") from None
        try:
            yield browser
        finally:
            browser.close()


def _is_in_loop() -> bool:
    """Whether this thread runs an event loop, in which Playwright's calls refuse to wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
