"""Panels as still figures of a page, for curves that are not over the time of a replay."""

from __future__ import annotations

from collections.abc import Iterable

from taction.drawing.panels import Panel
from taction.report.overview import curve_colours, draw_panel, shown_names
from taction.report.page import FIGURE_STYLE, Key, beside, picture
from taction.report.shown_text import as_label

# Size of a picture [inches]: at a phone's width its text is still read.
WIDTH, HEIGHT = 4.8, 2.5


def panel_picture(panel: Panel) -> str:
    """A panel as a figure of the page."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(FIGURE_STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        axis = figure.subplots()
        draw_panel(axis, panel)
        axis.set_title("")
        axis.set_xlabel(as_label(panel.across))
        if panel.is_log_across:
            axis.set_xscale("log")
            axis.xaxis.set_minor_formatter("")
    colours, keys = curve_colours(panel), []
    if len(panel.curves) > 1:
        keys = [
            Key(name, colours[k], "dashed" if panel.curves[k].is_dashed else "solid")
            for k, name in shown_names(panel)
        ]
    return picture(figure, panel.title, keys=keys, note=panel.note)


def panel_pictures(panels: Iterable[Panel]) -> str:
    """Panels as figures of the page, beside each other."""
    return beside(panel_picture(panel) for panel in panels)
