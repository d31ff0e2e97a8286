"""The live view of a folder whose files have hostile names and contents, in Chromium.

Every file is opened through the page, as a click in its list does, and every name is given as every setting.
What the page must not get more of, however it is used, are elements that act: `ACTING`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hostile_pages import Watch
from hostile_runs import forge_run, mjcf_text, plain_run, urdf_text
from hostile_words import as_file_name
from taction.viewer.sources import Choice
from taction.viewer.view import view_folder

ACTING = (
    "script",
    "iframe",
    "object",
    "embed",
    "link",
    "meta",
    "base",
    "style",
    "img",
    "a",
    "form",
    "svg",
    "video",
)
KINDS = (".urdf", ".xml", ".h5", ".npz")  # of files, in turn; every other one of the last two is damaged
# Counts answers: a choice is dealt with when the page hears an error, or that nobody is busy any more.
COUNT = """() => {
  const live = taction.live, hear = live.hear.bind(live);
  live.hear = async (data) => {
    await hear(data);
    if (typeof data !== "string") return;
    const message = JSON.parse(data);
    if (message.is === "busy" ? !message.text : message.error) window.answers++;
  };
}"""
OPEN = "(choice) => { window.answers = 0; taction.live.say({ do: 'open', choice }); }"
SETTINGS = ("scenario", "file", "contact", "solver", "stepper", "coordinates", "beside", "dt", "friction")


def fill_folder(names: Sequence[str], folder: Path) -> list[str]:
    """Write a file for each name, called by it and with it inside; returns the names of the files."""
    made = []
    run = folder.parent / "run"
    for k, name in enumerate(names):
        file = folder / as_file_name(name, KINDS[k % len(KINDS)])
        if file.suffix in (".urdf", ".xml"):
            text = (urdf_text if file.suffix == ".urdf" else mjcf_text)([name])
            file.write_bytes(text.encode("utf-8", "replace"))
        elif k % 8 < 4:
            forged = forge_run(plain_run(1, [name]), [name], run.with_suffix(file.suffix))
            file.write_bytes(forged.read_bytes())
        else:
            file.write_bytes(b"damaged")
        made.append(file.name)
    return made


def watch_live(watch: Watch, names: Sequence[str], folder: Path) -> dict[str, list[str]]:
    """Open every file and every setting in the view of a folder; what is wrong, by kind."""
    files = fill_folder(names, folder)
    with view_folder(folder, Choice(scenario="block-slope", dt=2e-3), browser=False, port=0) as view:
        own = ("data:", "blob:", view.url.partition("?")[0], view.url.partition("?")[0].replace("http", "ws"))
        page, seen = watch.open(view.url, own)
        page.wait_for_function("window.taction?.replays[0]?.canvas.dataset.ready && taction.live.state")
        page.evaluate(COUNT)
        before = watch.look(page, seen)
        offered = page.evaluate("[...document.querySelectorAll('datalist option')].map((o) => o.value)")
        choices = [{"file": file} for file in files]
        choices += [
            {"scenario": "block-slope", SETTINGS[k % len(SETTINGS)]: name} for k, name in enumerate(names)
        ]
        choices += [{"scenario": "block-slope", "parameters": {name: name}} for name in names]
        hidden = []
        for name in names:  # settings that there are not: dealt with in turn, before the choices below
            page.evaluate(OPEN, {name: name})
        for choice in choices:
            page.evaluate(OPEN, choice)
            page.wait_for_function("window.answers > 0", polling=20)
            if page.evaluate("document.title") != "taction":
                hidden.append(f"another title after {choice}")
        after = watch.look(page, seen)
    more = Counter({tag: after.elements[tag] - before.elements[tag] for tag in ACTING})
    escapes = [f"{count} more of <{tag}>" for tag, count in more.items() if count > 0] + after.acts
    escapes += [f"not offered: {file}" for file in set(files) - set(offered)]
    return {"executed": after.executed + hidden, "escapes": escapes, "raw": after.raw}
