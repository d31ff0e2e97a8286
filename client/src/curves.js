// Curves over time, linked to the motion: a click goes to that time, a line moves along with the replay.

import uPlot from "uplot";
import { element } from "./dom.js";
import { onThemeChange } from "./theme.js";

const HEIGHT = 190;
const REFRESHED = 300; // time between two drawings of curves that grow [ms]
const LEGIBLE = 8; // curves that a legend can still tell apart

/** All panels of a drawing below each other or side by side. */
export class Curves {
  constructor(holder, panels, onTime) {
    this.holder = holder;
    this.onTime = onTime;
    this.time = 0;
    this.panels = panels.map((panel) => this.make(panel));
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(holder);
    this.forget = onThemeChange(() => { for (const { plot } of this.panels) plot.redraw(); });
  }

  make(panel) {
    const figure = element("figure", { className: "curve" });
    figure.append(element("figcaption", { textContent: panel.title }));
    const legend = element("div", { className: "keys" });
    figure.append(legend);
    const chart = element("div", { className: "chart" });
    figure.append(chart);
    if (panel.note) figure.append(element("p", { className: "note", textContent: panel.note }));
    this.holder.append(figure);
    const made = { panel, chart, points: panel.curves.map((c) => [Array.from(c.t), Array.from(c.y)]) };
    made.plot = new uPlot(this.options(panel), table(made.points), chart);
    made.line = element("i", { className: "now" });
    made.plot.over.append(made.line);
    const count = panel.curves.length;
    panel.curves.forEach((curve, k) => {
      if (count > LEGIBLE && k !== 0 && k !== count - 1) return;
      const name = count > LEGIBLE && k ? `… ${curve.name} (${count} in all)` : curve.name;
      const key = element("span", { textContent: name });
      key.prepend(element("i", { className: curve.isDashed ? "dashed" : "" }));
      key.firstChild.style.borderColor = colourName(panel, k);
      legend.append(key);
    });
    return made;
  }

  options(panel) {
    const ink = () => css("--dim"), grid = () => css("--grid");
    const axis = (label) => ({
      label, stroke: ink, grid: { stroke: grid, width: 0.6 }, ticks: { stroke: grid, width: 0.6, size: 4 },
      font: "11px system-ui", labelFont: "11px system-ui", labelSize: 16, size: label === panel.label ? 56 : 30,
      ...(panel.isLog && label === panel.label ? { splits: powers } : {}),
      values: (_, ticks) => ticks.map((x) => (x === null ? "" : format(x))),
    });
    const range = (_, low, high) => this.range(panel, low, high);
    return {
      width: 300, height: HEIGHT, legend: { show: false }, pxAlign: false,
      scales: { x: { time: false }, y: panel.isLog ? { distr: 3, range } : { range } },
      axes: [axis(panel.across), axis(panel.label)],
      series: [{}, ...panel.curves.map((curve, k) => ({
        label: curve.name, stroke: () => colour(panel, k), width: curve.isTotal ? 1.8 : 1.3,
        dash: curve.isDashed ? [5, 4] : [], spanGaps: true, points: { show: false },
      }))],
      cursor: { drag: { x: true, y: false }, points: { size: 5 } },
      hooks: {
        draw: [(plot) => this.mark(plot, panel), (plot) => this.placeLine(this.panels?.find((m) => m.plot === plot))],
        ready: [(plot) => plot.over.addEventListener("click", (event) => {
          const time = plot.posToVal(event.offsetX, "x");
          if (Number.isFinite(time)) this.onTime(time);
        })],
      },
    };
  }

  range(panel, low, high) {
    if (panel.isLog) {
      const most = Math.max(high ?? 1, panel.limit ? 3 * panel.limit[0] : 0);
      return uPlot.rangeLog(low ?? 1e-3 * most, most, 10, true);
    }
    if (low === null || high === null) return [0, 1];
    if (panel.isCount) return [0, 1.1 * Math.max(1, high)];
    if (panel.top) return [-0.04 * panel.top, panel.top];
    if (panel.limit && !panel.isLog) return [Math.min(0, low), Math.max(1.18 * panel.limit[0], 1.05 * high)];
    const room = 0.06 * (high - low) || 0.06 * Math.abs(high) || 1e-12;
    return [low - room, high + room];
  }

  /** The limit. */
  mark(plot, panel) {
    const pen = plot.ctx, { left, top, width, height } = plot.bbox;
    pen.save();
    pen.lineWidth = devicePixelRatio;
    if (panel.limit) {
      const y = plot.valToPos(panel.limit[0], "y", true);
      if (y >= top && y <= top + height) {
        pen.strokeStyle = pen.fillStyle = css("--bad");
        pen.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
        pen.beginPath(); pen.moveTo(left, y); pen.lineTo(left + width, y); pen.stroke();
        pen.textAlign = "right";
        pen.font = `${10 * devicePixelRatio}px system-ui`;
        pen.fillText(panel.limit[1], left + width - 2, y - 3 * devicePixelRatio);
      }
    }
    pen.restore();
  }

  /** The line of the present time: an element of its own, so that nothing is drawn again when it moves. */
  placeLine(made) {
    if (!made) return;
    const x = made.plot.valToPos(this.time, "x");
    const isInside = x >= 0 && x <= made.plot.over.clientWidth;
    made.line.style.transform = `translateX(${isInside ? x : -9999}px)`;
  }

  setTime(time) {
    if (time === this.time) return;
    this.time = time;
    for (const made of this.panels) this.placeLine(made);
  }

  /** More points of all curves, in the order of the panels. */
  append(curves) {
    let k = 0;
    for (const made of this.panels) {
      for (const points of made.points) {
        const { t, y } = curves[k++];
        for (let i = 0; i < t.length; i++) { points[0].push(t[i]); points[1].push(y[i]); }
        if (points[0].length > 3000) { points[0] = halved(points[0]); points[1] = halved(points[1]); }
      }
    }
    this.isGrown = true;
  }

  /** Draw what was appended, now and then: a growing curve costs as much as a long one. */
  refresh(now) {
    if (!this.isGrown || now - (this.refreshed ?? 0) < REFRESHED) return;
    this.refreshed = now;
    this.isGrown = false;
    for (const { plot, points } of this.panels) plot.setData(table(points));
  }

  /** The value of a curve at a time, from its points; for readers of the page. */
  value(title, name, time) {
    const made = this.panels.find((m) => m.panel.title === title);
    const k = made ? made.panel.curves.findIndex((c) => c.name === name) : -1;
    if (k < 0) return null;
    const [t, y] = made.points[k];
    let i = t.findIndex((x) => x >= time - 1e-9);
    if (i < 0) i = t.length - 1;
    if (i === 0 || Math.abs(t[i] - time) < 1e-9) return y[i];
    return y[i - 1] + ((y[i] - y[i - 1]) * (time - t[i - 1])) / (t[i] - t[i - 1]);
  }

  /** As wide as there is room, or of a given width [pixel]. */
  resize(asked = null) {
    for (const { plot, chart } of this.panels) {
      const width = asked ?? Math.floor(chart.clientWidth);
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
    }
  }

  dispose() {
    this.forget();
    this.watch.disconnect();
    for (const { plot } of this.panels) plot.destroy();
    this.holder.replaceChildren();
  }
}

/** Powers of ten along a logarithmic axis, at most six of them. */
function powers(_, __, low, high) {
  const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
  const stride = Math.max(1, Math.ceil((to - from + 1) / 6)), out = [];
  for (let k = from; k <= to; k += stride) out.push(10 ** k);
  return out;
}

const halved = (list) => list.filter((_, i) => i % 2 === 0 || i === list.length - 1);

/** Curves of their own times as one table: a column of times, then one per curve. */
function table(points) {
  if (!points.length) return [[]];
  return uPlot.join(points.map(([t, y]) => [t, y]), points.map((p) => p.map(() => 1)));
}

function colourName(panel, k) {
  if (panel.curves[k].isTotal) return "var(--ink)";
  if (panel.curves.length > LEGIBLE) {
    return `hsl(${220 - (215 * k) / (panel.curves.length - 1)} 60% 50%)`;
  }
  const before = panel.curves.slice(0, k).filter((curve) => !curve.isTotal).length;
  return `var(--c${before % 8})`;
}

function colour(panel, k) {
  const name = colourName(panel, k);
  return name.startsWith("var(") ? css(name.slice(4, -1)) : name;
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888";

/** A number with as many digits as a tick needs. */
export function format(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return x.toExponential(size === 10 ** Math.round(Math.log10(size)) ? 0 : 1);
  return String(Number(x.toPrecision(4)));
}
