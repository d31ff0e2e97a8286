// The live view: a panel of settings, a player that grows, curves; all over one socket.

import { format } from "./curves.js";
import { decode } from "./decode.js";
import { choice, element } from "./dom.js";
import { Player } from "./player.js";

const AGAIN = 1500; // until a lost connection is tried again [ms]

export class Live {
  constructor(holder) {
    this.holder = holder;
    this.offers = null;
    this.state = null;
    this.player = null;
    this.incoming = Promise.resolve(); // messages are taken in their order
    this.build();
    this.connect();
  }

  build() {
    this.form = element("div", { className: "panel" });
    this.message = element("p", { className: "message", role: "alert" });
    this.status = element("p", { className: "status" });
    this.busy = element("p", { className: "busy", role: "status" });
    this.place = element("div", { className: "player" });
    this.curves = element("div", { className: "curves" });
    this.holder.classList.add("live");
    this.holder.append(this.form,
      element("div", { className: "main" }, this.message, this.busy, this.place, this.status, this.curves));
  }

  connect() {
    const address = new URL(`socket${location.search}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => {
      this.incoming = this.incoming.then(() => this.hear(data)).catch((error) => this.complain(error.message));
    };
    this.socket.onclose = () => {
      this.complain("The program has ended, or the connection is lost.");
      this.isLost = true;
      setTimeout(() => this.connect(), AGAIN);
    };
    this.socket.onopen = () => {
      if (this.isLost) this.complain("");
      this.isLost = false;
      this.drawings = [];
    };
  }

  say(message) { if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message)); }

  complain(text) { this.message.textContent = text; this.message.hidden = !text; }

  async hear(data) {
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.is === "offers") { this.offers = message; this.fillForm(); }
      else if (message.is === "busy") this.busy.textContent = message.text;
      else this.take(message);
      return;
    }
    const head = await decode(new Uint8Array(data));
    if (head.bodies) this.begin(head); else this.grow(head);
  }

  /** A new drawing; the last of several makes the player. */
  begin(drawing) {
    if (drawing.which === 0) this.drawings = [];
    this.drawings.push({ name: drawing.title, drawing });
    if (this.drawings.length < drawing.of) return;
    this.player?.dispose();
    this.curves.replaceChildren();
    this.player = new Player(this.place, this.drawings, { curvesHolder: this.curves, isLive: drawing.isLive });
    window.taction.replays[0] = this.player;
    if (drawing.isLive) this.takePointer();
    const notes = this.drawings.flatMap((d) => d.drawing.notes);
    if (notes.length) this.place.append(element("p", { className: "note", textContent: notes.join(" ") }));
  }

  grow(head) {
    if (!this.player) return;
    const { motion } = this.player.drawings[head.which];
    const wasEmpty = !motion.pieces.some((piece) => piece.point.length);
    motion.append(head.frames);
    if (head.which === 0) this.player.curves?.append(head.curves);
    const overlays = this.player.stages[head.which].overlays;
    if (wasEmpty && head.frames.point.length) this.isFirst = true;
    if (motion.count % 30 < 3 || this.isFirst) {
      overlays.usual = motion.usualForce();
      this.player.describe();
      this.isFirst = false;
    }
    this.player.theatre.isStale = true;
  }

  take(state) {
    const isNew = JSON.stringify(this.state?.choice) !== JSON.stringify(state.choice);
    this.state = state;
    this.complain(state.error);
    if (isNew) this.fillForm();
    const running = this.form.querySelector(".run");
    if (running) {
      running.textContent = state.isRunning ? "Pause" : "Run";
      for (const button of this.form.querySelectorAll(".needs-live")) button.disabled = !state.isLive;
    }
    if (state.isRunning && this.player) this.player.isAtHead = this.player.isAtHead || !this.player.isPlaying && !this.wasRunning;
    if (this.player) this.player.isGrowing = state.isRunning;
    this.wasRunning = state.isRunning;
    const parts = [];
    if (state.residual !== null) {
      parts.push(`residual ${state.residual.toExponential(1)}${state.residual <= state.limit ? "" : `, above ${state.limit}`}`);
    }
    if (state.pull !== null) parts.push(`pulled with ${format(state.pull)} N`);
    this.status.textContent = [...parts, ...state.words].join(" · ");
    this.status.classList.toggle("bad", state.residual !== null && state.residual > state.limit);
  }

  // ----- Settings

  fillForm() {
    if (!this.offers) return;
    const chosen = this.state?.choice ?? {};
    const { scenarios, files, laws, solvers, steppers, coordinates } = this.offers;
    const scenario = scenarios.find((s) => s.name === chosen.scenario);
    const open = (changes) => this.say({ do: "open", choice: { ...clean(chosen), ...changes } });
    const pick = (text, key, options, first = "default") =>
      choice(text, [["", first], ...options], chosen[key] ?? "", (value) => open({ [key]: value || null }));
    const run = element("button", { type: "button", className: "run needs-live", textContent: "Run" });
    run.addEventListener("click", () => {
      if (!this.state.isRunning && this.player) this.player.isAtHead = true;
      this.say({ do: this.state.isRunning ? "pause" : "run" });
    });
    const step = element("button", { type: "button", className: "needs-live", textContent: "Step" });
    step.addEventListener("click", () => { if (this.player) this.player.isAtHead = true; this.say({ do: "step" }); });
    const reset = element("button", { type: "button", className: "needs-live", textContent: "Reset" });
    reset.addEventListener("click", () => open({}));
    const speed = choice("speed", [0.1, 0.25, 0.5, 1, 2, 5].map((s) => [String(s), `${s} ×`]),
      String(this.state?.speed ?? 1), (value) => this.say({ do: "speed", value: Number(value) }));
    const rows = [
      element("h1", { textContent: "taction" }),
      choice("scenario", [["", "choose …"], ...scenarios.map((s) => [s.name, s.name])], chosen.scenario ?? "",
        (name) => name && this.say({ do: "open", choice: { scenario: name } })),
      ...(scenario ? [element("p", { className: "note", textContent: scenario.summary })] : []),
      fileRow(files, chosen.file, (name) => this.say({ do: "open", choice: { file: name } })),
      element("div", { className: "buttons" }, run, step, reset), speed,
    ];
    if (!scenario || scenario.hasContact) {
      rows.push(
        pick("contact", "contact", laws), pick("beside it", "beside", laws, "nothing"),
        pick("solver", "solver", solvers), pick("scheme", "stepper", steppers), pick("coordinates", "coordinates", coordinates),
        slider("friction", chosen.friction, 0, 1.5, 0.05, (value) => open({ friction: value })),
        slider("restitution", chosen.restitution, 0, 1, 0.05, (value) => open({ restitution: value })));
    }
    rows.push(numberRow("time step [s]", chosen.dt, scenario?.dt ?? "", (value) => open({ dt: value })));
    for (const parameter of scenario?.parameters ?? []) {
      rows.push(parameterRow(parameter, chosen.parameters?.[parameter.name],
        (value) => open({ parameters: { ...chosen.parameters, [parameter.name]: value } })));
    }
    const focused = this.form.contains(document.activeElement) ? document.activeElement.ariaLabel : null;
    this.form.replaceChildren(...rows);
    if (focused) [...this.form.querySelectorAll("input, select")].find((e) => e.ariaLabel === focused)?.focus();
    for (const button of this.form.querySelectorAll(".needs-live")) button.disabled = !this.state?.isLive;
    run.textContent = this.state?.isRunning ? "Pause" : "Run";
  }

  // ----- Dragging a body: with Shift or the right button, or on a body with the pointer

  takePointer() {
    const { canvas, theatre, stages } = this.player;
    let held = null;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return theatre.pick(event.clientX - box.left, event.clientY - box.top);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.state?.isLive) return;
      const found = place(event);
      if (!found?.hit) return;
      theatre.controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
      const point = found.hit.point;
      const { position, quaternion: q } = this.player.pose(found.hit.body, found.stage);
      const arm = point.clone().sub({ x: position[0], y: position[1], z: position[2] });
      arm.applyQuaternion({ x: -q[1], y: -q[2], z: -q[3], w: q[0] });
      held = { which: found.stage, body: found.hit.body, arm, depth: point.clone().sub(theatre.camera.position).dot(forward(theatre)) };
      this.say({ do: "drag", which: held.which, body: held.body, point: point.toArray(), target: point.toArray() });
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const found = place(event);
      if (!found) return;
      const along = found.ray.direction.dot(forward(theatre));
      const target = found.ray.origin.clone().addScaledVector(found.ray.direction, held.depth / along);
      this.say({ do: "drag", which: held.which, body: held.body, target: target.toArray() });
      stages[held.which].overlays.pull(target, held.body, held.arm);
      theatre.isStale = true;
    });
    const release = () => {
      if (!held) return;
      stages[held.which].overlays.pull(null);
      held = null;
      theatre.controls.enabled = true;
      theatre.isStale = true;
      this.say({ do: "release" });
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
  }
}

function forward(theatre) {
  return theatre.controls.target.clone().sub(theatre.camera.position).normalize();
}

/** Settings that were made, without those left alone. */
function clean(chosen) {
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== null && value !== ""));
}

function fileRow(files, value, act) {
  const input = element("input", { ariaLabel: "file", value: value ?? "", placeholder: "robot or run file" });
  const list = element("datalist", { id: "files" });
  for (const name of files) list.append(element("option", { value: name }));
  input.setAttribute("list", "files");
  input.addEventListener("change", () => { if (input.value.trim()) act(input.value.trim()); });
  return element("label", { className: "choice" }, "file", input, list);
}

function slider(text, value, minimum, maximum, step, act) {
  const range = element("input", { type: "range", ariaLabel: text, min: minimum, max: maximum, step, value: value ?? minimum });
  const shown = element("output", { textContent: value ?? "own" });
  range.addEventListener("input", () => { shown.textContent = range.value; });
  range.addEventListener("change", () => act(Number(range.value)));
  range.addEventListener("dblclick", () => act(null));
  return element("label", { className: "choice", title: "A double click goes back to its own" }, text, range, shown);
}

function numberRow(text, value, own, act) {
  const input = element("input", { ariaLabel: text, value: value ?? "", placeholder: String(own), inputMode: "decimal" });
  input.addEventListener("change", () => act(input.value.trim() || null));
  return element("label", { className: "choice" }, text, input);
}

function parameterRow(parameter, value, act) {
  const { name, unit, help, choices } = parameter;
  const text = unit ? `${name} [${unit}]` : name;
  const now = value ?? parameter.value;
  const options = typeof parameter.value === "boolean" ? ["true", "false"] : choices.map(String);
  const row = options.length ? choice(text, options, String(now), act) : numberRow(text, value, parameter.value, (v) => act(v ?? parameter.value));
  row.title = help;
  return row;
}
