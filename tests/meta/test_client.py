"""The client in the package is the one that its sources give."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "client"
BUILT = ROOT / "src" / "taction" / "report" / "client"


def test_the_bundle_is_that_of_the_sources():
    """The digest that client/build.mjs writes into the first line."""
    digest = hashlib.sha256()
    for path in sorted((CLIENT / "src").iterdir()):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    digest.update((CLIENT / "package.json").read_bytes())
    first = (BUILT / "client.js").read_text(encoding="utf-8").split("\n", maxsplit=1)[0]
    assert first == f"// sources: {digest.hexdigest()}", "run: cd client && npm ci && node build.mjs"


def test_the_bundle_fits_into_a_script_element():
    assert "</script" not in (BUILT / "client.js").read_text(encoding="utf-8")


def test_licences_of_what_is_in_the_bundle_lie_beside_it():
    text = (BUILT / "LICENSES.txt").read_text(encoding="utf-8")
    assert all(name in text for name in ("three 0.", "uplot 1.")) and text.count("Copyright") >= 2
