// A replay: stages in a theatre, a clock, a bar of controls, curves.

import { Curves, format } from "./curves.js";
import { choice, element, tick } from "./dom.js";
import { Motion } from "./motion.js";
import { Stage } from "./stage.js";
import { Theatre, VIEWS } from "./theatre.js";
import { onThemeChange, theme } from "./theme.js";
import { leaveWheelToPage } from "./wheel.js";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const TOLD = 90; // time between two changes of words and slider while it plays [ms]
const SHORTEST = 2; // a motion that lasts less is shown more slowly at first [s]
const PRINTED = 300; // width of a curve's picture on paper [pixel]

/** The speed at which a motion of so many seconds can be followed. */
function slowEnough(seconds) {
  const slow = SPEEDS.filter((speed) => speed <= 1 && seconds / speed >= SHORTEST);
  return seconds > 0 && slow.length ? slow.at(-1) : seconds > 0 ? SPEEDS[0] : 1;
}

export class Player {
  /** holder: an element to fill; drawings: [{ name, drawing }] that share one time; isInPage: among text to scroll. */
  constructor(holder, drawings, { curvesHolder = null, isLive = false, isInPage = false } = {}) {
    Object.assign(this, { holder, isLive });
    this.time = 0;
    this.speed = 1;
    this.isPlaying = false;
    this.isLooping = true;
    this.isAtHead = isLive;
    this.isGrowing = false; // while a simulation goes on
    this.options = { collision: false, points: true, forces: true, cones: true, com: false, trails: false, frames: false };
    this.build();
    if (isInPage) leaveWheelToPage(this.canvas.parentElement, this.canvas);
    this.curves = null;
    this.curvesHolder = curvesHolder;
    this.show(drawings);
    this.forget = onThemeChange(() => this.restage());
    const beat = (now) => {
      if (this.isOver) return;
      this.tick(now);
      requestAnimationFrame(beat);
    };
    requestAnimationFrame(beat);
  }

  show(drawings) {
    this.drawings = drawings.map(({ name, drawing }) => ({ name, drawing, motion: new Motion(drawing.frames) }));
    const view = this.drawings[0]?.drawing.view;
    if (view) {
      this.theatre.follow = view.follow;
      this.followBox.querySelector("input").checked = view.follow;
      if (!this.isLive) this.setSpeed(slowEnough(this.end - this.begin));
    }
    this.restage();
    if (view) this.theatre.look(view);
    this.curves?.dispose();
    this.curves = null;
    const panels = this.drawings[0]?.drawing.panels ?? [];
    if (this.curvesHolder && panels.length) {
      this.curves = new Curves(this.curvesHolder, panels, (t) => { this.pause(); this.seek(t); });
    }
    this.names.replaceChildren(...(this.drawings.length > 1
      ? this.drawings.map(({ name }) => element("span", { textContent: name })) : []));
    this.seek(this.isLive ? this.end : this.begin);
    this.canvas.dataset.ready = "true";
  }

  restage() {
    const colours = theme();
    this.theatre.theme = colours;
    this.stages = this.drawings.map(({ drawing, motion }) => new Stage(drawing, motion, colours, this.theatre.isSoftware));
    this.theatre.show(this.stages);
    this.applyOptions();
    this.describe();
  }

  get begin() { return Math.min(...this.drawings.map(({ motion }) => motion.begin), Infinity); }
  get end() { return Math.max(...this.drawings.map(({ motion }) => motion.end), 0); }

  build() {
    this.canvas = element("canvas", { tabIndex: 0, ariaLabel: "Replay in three dimensions" });
    this.names = element("div", { className: "names" });
    this.words = element("div", { className: "words" });
    this.legend = element("div", { className: "legend" });
    const box = element("div", { className: "stage" }, this.canvas, this.names, this.words, this.legend);
    this.theatre = new Theatre(this.canvas, theme());
    this.playButton = element("button", { type: "button", className: "play", title: "Play or pause (space)" });
    this.playButton.addEventListener("click", () => (this.isPlaying ? this.pause() : this.play()));
    const step = (by, text, title) => {
      const button = element("button", { type: "button", textContent: text, title });
      button.addEventListener("click", () => this.step(by));
      return button;
    };
    this.slider = element("input", { type: "range", min: 0, max: 1000, step: "any", value: 0, ariaLabel: "Time" });
    this.slider.addEventListener("input", () => { this.pause(); this.seek(Number(this.slider.value)); });
    this.clock = element("output", { className: "clock" });
    const speeds = this.speeds = choice("speed", SPEEDS.map((s) => [String(s), `${s} ×`]), "1", (s) => { this.speed = Number(s); });
    const loop = tick("loop", true, (on) => { this.isLooping = on; });
    const bar = element("div", { className: "bar" }, this.playButton, step(-1, "‹", "One frame back (←)"),
      step(1, "›", "One frame on (→)"), this.slider, this.clock, speeds, ...(this.isLive ? [] : [loop]));
    this.holder.append(box, bar, this.buildOptions());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.drawPlayButton();
  }

  buildOptions() {
    const option = (name, text, title) => tick(text, this.options[name], (on) => {
      this.options[name] = on;
      this.applyOptions();
    }, title);
    this.followBox = tick("follow", false, (on) => { this.theatre.follow = on; }, "The camera goes with the centre of mass");
    const size = element("input", { type: "range", min: -1.5, max: 1.5, step: 0.05, value: 0, title: "Length of force arrows" });
    size.addEventListener("input", () => {
      for (const stage of this.stages) stage.overlays.scale = 10 ** Number(size.value);
      this.describe();
      this.theatre.isStale = true;
    });
    const views = element("span", { className: "views" }, "view ");
    for (const name of ["chosen", ...Object.keys(VIEWS)]) {
      const button = element("button", { type: "button", textContent: name });
      button.addEventListener("click", () => this.look(name));
      views.append(button);
    }
    return element("div", { className: "options" },
      option("forces", "forces"), option("cones", "cones", "Friction cones, coloured by how much is in use"),
      option("points", "points", "Points of contact"), option("com", "centre of mass"), option("trails", "trails"),
      option("frames", "frames", "Axes of every body"),
      option("collision", "collision shapes", "What touches, instead of what is seen"), this.followBox,
      element("label", { className: "choice" }, "arrows", size), views);
  }

  applyOptions() {
    for (const { shapes, overlays } of this.stages) {
      shapes.showCollision(this.options.collision);
      Object.assign(overlays.show, this.options);
    }
    this.theatre.isStale = true;
  }

  setSpeed(speed) {
    this.speed = speed;
    this.speeds.querySelector("select").value = String(speed);
  }

  /** Look from a named view, or as the drawing chose. */
  look(name) {
    const view = this.drawings[0].drawing.view;
    const [azimuth, elevation] = VIEWS[name] ?? [view.azimuth, view.elevation];
    this.theatre.look({ ...view, azimuth, elevation });
  }

  key(event) {
    const act = { " ": () => (this.isPlaying ? this.pause() : this.play()), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      Home: () => this.seek(this.begin), End: () => this.seek(this.end) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  play() {
    if (this.time >= this.end - 1e-9 && !this.isLive) this.seek(this.begin);
    this.isPlaying = true;
    this.last = null;
    this.drawPlayButton();
  }

  pause() {
    this.isPlaying = false;
    this.theatre.isStale = true;
    this.isAtHead = false;
    this.drawPlayButton();
  }

  step(by) {
    this.pause();
    const motion = this.drawings[0].motion;
    if (!motion.count) return;
    const here = motion.place(this.time);
    const to = Math.min(Math.max(here.frame + by + (by < 0 && here.share > 1e-6 ? 1 : 0), motion.dropped), motion.count - 1);
    this.seek(motion.timeOf(to));
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.begin), this.end);
    if (!Number.isFinite(this.time)) this.time = 0;
    this.theatre.isStale = true;
  }

  tick(now) {
    const elapsed = this.last == null ? null : now - this.last;
    this.last = now;
    if (this.isAtHead && this.time !== this.end) this.seek(this.end);
    this.theatre.move(this.isPlaying || this.isAtHead && this.isGrowing, elapsed);
    if (this.isPlaying && elapsed != null) {
      const to = this.time + (Math.min(elapsed, 200) / 1000) * this.speed;
      if (to >= this.end && !this.isLive) {
        if (this.isLooping) this.seek(this.begin); else { this.seek(this.end); this.pause(); }
      } else if (to >= this.end) { this.isAtHead = true; this.isPlaying = false; this.drawPlayButton(); }
      else this.seek(to);
    }
    this.curves?.refresh(now);
    if (this.theatre.isStale && this.drawings.length) this.draw();
  }

  draw() {
    this.theatre.draw(this.time);
    this.curves?.setTime(this.time);
    const now = performance.now();
    if (this.isPlaying && now - (this.told ?? 0) < TOLD) return;
    this.told = now;
    const { begin, end } = this;
    this.slider.min = begin;
    this.slider.max = end;
    this.slider.value = this.time;
    this.clock.textContent = `${this.time.toFixed(3)} of ${end.toFixed(3)} s`;
    this.placeNames();
    this.say();
  }

  /** Names of several stages, each in the corner of its own, by shares of the canvas: it may be scaled. */
  placeNames() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.theatre.places().forEach(([x, y, w, h], i) => {
      const name = this.names.children[i];
      const share = { left: (100 * x) / width, maxWidth: (100 * w) / width, top: 100 - (100 * (y + h)) / height };
      for (const key in share) if (name) name.style[key] = `${share[key]}%`;
    });
  }

  /** A canvas that keeps what this one shows now, also where it is printed. */
  takeStill() {
    this.draw();
    const { width, height } = this.canvas;
    const still = element("canvas", { className: "still", width, height, ariaLabel: this.canvas.ariaLabel });
    still.getContext("2d").drawImage(this.canvas, 0, 0);
    return still;
  }

  /** Put a still over the canvas, and curves of a width that fits, for paper. */
  beginPrint() {
    this.canvas.after(this.takeStill());
    this.curves?.resize(PRINTED);
  }

  endPrint() {
    this.canvas.parentElement.querySelector(".still")?.remove();
    this.curves?.resize();
  }

  /** What is to be known of the moment shown. */
  say() {
    const lines = this.stages.map(({ here, motion }) => {
      if (!here) return "";
      const [from, to] = motion.contacts(here);
      let edge = 0, pressing = 0;
      for (let c = from; c < to; c++) {
        if (here.piece.state[c] > 0) pressing++;
        if (here.piece.state[c] === 2) edge++;
      }
      if (to === from) return "";
      const sliding = edge ? `, ${edge} on the cone's boundary` : "";
      const open = here.piece.open[here.row] ? "; single forces are not unique here, only their sums" : "";
      return `${pressing} of ${to - from} contacts press${sliding}${open}`;
    });
    const words = lines.length > 1 ? "" : lines.filter(Boolean).join("");
    if (this.words.textContent !== words) this.words.textContent = words;
  }

  /** The legend: colours of cones, length of arrows, size of the grid. */
  describe() {
    const { open, inside, edge, loose } = theme();
    const stage = this.stages[0];
    if (!stage) return;
    const dot = (colour, text) => {
      const mark = element("i");
      mark.style.background = colour;
      return element("span", {}, mark, text);
    };
    const parts = [];
    if (this.drawings.some(({ motion }) => motion.pieces.some((piece) => piece.point.length))) {
      const newton = 10 ** Math.floor(Math.log10((0.3 * stage.radius) / stage.overlays.perNewton));
      parts.push(dot(open, "open"), dot(inside, "inside the cone"), dot(edge, "on its boundary"),
        ...(this.drawings.some(({ motion }) => motion.pieces.some((piece) => piece.open.some((x) => x))) ? [dot(loose, "force not unique")] : []),
        element("span", { textContent: `arrow of ${format(newton * stage.overlays.perNewton)} m: ${format(newton)} N` }));
    }
    if (stage.cell) parts.push(element("span", { textContent: `grid ${format(stage.cell)} m` }));
    this.legend.replaceChildren(...parts);
  }

  drawPlayButton() { this.playButton.textContent = this.isPlaying ? "❚❚" : "▶"; }

  /** Pose of a body by name or number at the time shown: { position, quaternion }. */
  pose(body, which = 0) {
    const { drawing, motion } = this.drawings[which];
    const number = typeof body === "number" ? body : drawing.bodies.indexOf(body);
    const position = [0, 0, 0], quaternion = [0, 0, 0, 0];
    motion.pose(motion.place(this.time), number, position, quaternion);
    return { position, quaternion };
  }

  dispose() {
    this.isOver = true;
    this.forget();
    this.theatre.dispose();
    this.curves?.dispose();
    this.holder.replaceChildren();
  }
}
