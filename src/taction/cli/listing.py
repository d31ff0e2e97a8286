"""``taction list``: what there is to run, with what, on what."""

from __future__ import annotations

from math import isfinite
from textwrap import wrap
from typing import Annotated, Any

import typer

from taction._core.errors import BadInput
from taction._core.names import instead
from taction.cli.output import say, to_json

# Kinds of things with names: key in the JSON object, words for people
KINDS = {
    "scenarios": ("scenarios", "Scenarios (taction run NAME --set key=value)"),
    "robots": ("robots", "Robots (taction.robots.NAME)"),
    "integrators": ("integrators", "Integrators (--integrator NAME)"),
    "models": ("contact_models", "Contact models (--contact NAME)"),
    "coordinates": ("coordinates", "Coordinates (--coordinates NAME)"),
    "schemes": ("steppers", "Time-stepping schemes through contact (--stepper NAME)"),
    "solvers": ("solvers", "Contact solvers (--solver NAME)"),
}
WIDTH = 80  # columns of the overview
HEAD = 13  # of these, for what the names on a line are


def list_everything(
    name: Annotated[
        str | None, typer.Argument(metavar=f"[SCENARIO|{'|'.join(KINDS)}]", help="Show this in full.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """List scenarios, robots, integrators, contact models, schemes and solvers, or show one in full."""
    content = _content()
    if name is None:
        typer.echo(to_json(content)) if json else _show_overview(content)
        return
    if name in KINDS:
        key, title = KINDS[name]
        typer.echo(to_json({key: content[key]})) if json else _show_kind(title, content[key])
        return
    scenario = next((s for s in content["scenarios"] if s["name"] == name), None)
    if scenario is None:
        known = [*(s["name"] for s in content["scenarios"]), *KINDS]
        raise BadInput(f"nothing to list is called {name!r}; {instead(name, known)}")
    typer.echo(to_json(scenario)) if json else _show_scenario(scenario)


def _content() -> dict[str, Any]:
    from taction import robots
    from taction.scenarios import SCENARIOS
    from taction.scenarios.base import ContactScenario
    from taction.sim.contact_setup import LAW_SUMMARIES
    from taction.solvers import SOLVERS
    from taction.steppers import INTEGRATORS
    from taction.steppers.coordinates.dispatch import COORDINATES
    from taction.steppers.schemes.dispatch import SCHEMES

    return {
        "scenarios": [
            {
                "name": s.name,
                "summary": s.summary,
                "source": s.source,
                "integrator": s.integrator or None,
                "contact": s.contact if isinstance(s, ContactScenario) else None,
                "stepper": s.stepper if isinstance(s, ContactScenario) else None,
                "coordinates": s.coordinates if isinstance(s, ContactScenario) else None,
                "dt": s.dt,
                "duration": s.duration,
                "parameters": [
                    {
                        "name": p.name,
                        "default": p.default,
                        "unit": p.unit,
                        "help": p.help,
                        "choices": list(p.choices),
                        "minimum": p.minimum,
                        "maximum": p.maximum,
                    }
                    for p in s.parameters
                ],
            }
            for s in SCENARIOS.values()
        ],
        "integrators": [
            {"name": name, "order": method.order, "summary": method.summary}
            for name, method in INTEGRATORS.items()
        ],
        "robots": [
            {"name": name, "summary": _first_line(getattr(robots, name))}
            for name in robots.__all__
            if name.islower()
        ],
        "contact_models": [{"name": name, "summary": text} for name, text in LAW_SUMMARIES.items()],
        "coordinates": [{"name": name, "summary": text} for name, text in COORDINATES.items()],
        "steppers": [{"name": scheme.name, "summary": scheme.summary} for scheme in SCHEMES.values()],
        "solvers": [
            {"name": name, "summary": method.summary, "laws": list(method.laws)}
            for name, method in SOLVERS.items()
        ],
    }


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").split("\n")[0].replace("``", "")


def _show_overview(content: dict[str, Any]) -> None:
    """The names of everything, on one screen."""
    from taction.scenarios import GROUPS

    say("Scenarios: taction run NAME --set key=value; taction list NAME shows one in full")
    for group, scenarios in GROUPS.items():
        _show_names(f"  {group}", list(scenarios))
    say("And with what; taction list robots (or schemes, …) says what each is")
    for kind, (key, _) in KINDS.items():
        if kind != "scenarios":
            _show_names(f"  {kind}", [thing["name"] for thing in content[key]])


def _show_names(head: str, names: list[str]) -> None:
    indent = " " * (HEAD + 2)
    begin = f"{head:{HEAD + 2}}"
    text = ", ".join(names)
    for line in wrap(text, WIDTH, initial_indent=begin, subsequent_indent=indent, break_on_hyphens=False):
        say(line)


def _show_kind(title: str, things: list[dict[str, Any]]) -> None:
    """A line for each, with what it is."""
    say(title)
    longest = max(len(thing["name"]) for thing in things)
    for thing in things:
        laws = f" ({', '.join(thing['laws'])})" if "laws" in thing else ""
        say(f"  {thing['name']:{longest}}  {thing['summary']}{laws}")


def _show_scenario(scenario: dict[str, Any]) -> None:
    """Everything about one."""
    method = scenario["integrator"] or (
        f"{scenario['stepper']}, contact {scenario['contact']}, {scenario['coordinates']} coordinates"
    )
    say(f"{scenario['name']}: {scenario['summary']}")
    say(f"method      {method}, dt = {scenario['dt']:g} s, {scenario['duration']:g} s")
    say(f"source      {scenario['source']}")
    say(f"parameters  {'--set key=value' if scenario['parameters'] else 'none'}")
    rows = [(f"{p['name']}={_word(p['default'])}", p["unit"], _range(p)) for p in scenario["parameters"]]
    sizes = [max((len(row[c]) for row in rows), default=0) for c in range(3)]
    for row, parameter in zip(rows, scenario["parameters"], strict=True):
        cells = "  ".join(f"{cell:{size}}" for cell, size in zip(row, sizes, strict=True) if size)
        say(f"  {cells}  {parameter['help']}".rstrip())


def _range(parameter: dict[str, Any]) -> str:
    """What a parameter may be."""
    if parameter["choices"]:
        return " | ".join(map(_word, parameter["choices"]))
    low, high = parameter["minimum"], parameter["maximum"]
    if isinstance(parameter["default"], bool):
        return "true | false"
    if isfinite(low) and isfinite(high):
        return f"{low:g} to {high:g}"
    return f"≥ {low:g}" if isfinite(low) else f"≤ {high:g}" if isfinite(high) else ""


def _word(value: Any) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
