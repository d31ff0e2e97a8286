"""Writes ``docs/memory.md``: what kernels read and write, from the declarations themselves.

Usage: ``python tools/write_memory_page.py [--check]``; with ``--check`` nothing is written, and the exit code
is 1 where the page is not up to date.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "memory.md"
MODULES = (
    "model.model", "model.absolute", "dynamics.joint_law", "geometry.colliders", "geometry.filters",
    "geometry.pair_list", "contact.chains", "contact.assembly", "solvers.newton_memory", "steppers.scene",
    "steppers.driver", "steppers.plant",
)  # fmt: skip
HEAD = """# Memory

What kernels are given, array by array, from the declarations in the sources
(`python tools/write_memory_page.py`). A [layout](architecture.md#kernel-rules) is handed on as one machine
word. Sizes are names; the same name in one layout is the same size. Layouts marked *scratch* hold nothing
from step to step: `TACTION_POISON=1` fills them with NaN when they are made.
"""


def page() -> str:
    from taction._core.layout import Layout
    from taction.steppers.columns import RECORD

    parts = [HEAD]
    for name in MODULES:
        module = importlib.import_module(f"taction.{name}")
        for thing in vars(module).values():
            is_layout = isinstance(thing, type) and issubclass(thing, Layout)
            if not is_layout or thing.__module__ != module.__name__:
                continue
            scratch = " (scratch)" if thing.is_scratch else ""
            text = " ".join((thing.__doc__ or "").split("\n\n")[0].split())
            parts += [f"\n## {thing.__name__}{scratch}\n", f"`{name.replace('.', '/')}.py`. {text}\n"]
            parts += ["| field | kind | shape | meaning |", "|---|---|---|---|"]
            for f in thing.fields.values():
                kind = f"`{f.layout.__name__}`" if f.layout is not None else f.kind
                shape = "" if f.shape is None else f"({', '.join(f.shape)})".replace("*", "·")
                parts.append(f"| `{f.name}` | {kind} | {shape} | {f.text} |")
    parts += ["\n## Record of a step\n", "Columns of `Record.step`, of run files and of data frames.\n"]
    parts += ["| column | unit | meaning |", "|---|---|---|"]
    parts += [f"| `{name}` | {unit} | {text} |" for name, unit, text in RECORD]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    text = page()
    if "--check" in arguments:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
