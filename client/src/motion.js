// Frames over time, in pieces that may still grow; what lies between two frames is interpolated.

const MOST_FRAMES = 40000; // of a live motion; older ones are forgotten

export class Motion {
  constructor(frames) {
    this.pieces = [];
    this.count = 0;
    this.dropped = 0;
    if (frames) this.append(frames);
  }

  /** More frames, later than all before. */
  append(frames) {
    if (!frames.t.length) return;
    this.pieces.push({ ...frames, start: this.count, bodies: frames.position.shape[1] });
    this.count += frames.t.length;
    while (this.count - this.dropped > MOST_FRAMES && this.pieces.length > 1) {
      this.dropped = this.pieces[1].start;
      this.pieces.shift();
    }
  }

  get begin() { return this.pieces.length ? this.pieces[0].t[0] : 0; }
  get end() {
    const last = this.pieces.at(-1);
    return last ? last.t[last.t.length - 1] : 0;
  }

  /** The frame at or before a time, and the share of the way to the next one. */
  place(time) {
    let low = 0, high = this.pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.pieces[middle].t[0] <= time) low = middle; else high = middle - 1;
    }
    const piece = this.pieces[low];
    let a = 0, b = piece.t.length - 1;
    while (a < b) {
      const middle = (a + b + 1) >> 1;
      if (piece.t[middle] <= time + 1e-12) a = middle; else b = middle - 1;
    }
    const next = this.at(piece.start + a + 1);
    const here = { piece, row: a, frame: piece.start + a, next, share: 0 };
    if (next) {
      const span = next.piece.t[next.row] - piece.t[a];
      here.share = span > 0 ? Math.min(Math.max((time - piece.t[a]) / span, 0), 1) : 0;
    }
    return here;
  }

  /** The place of a frame by its number; null if there is none. */
  at(frame) {
    if (frame < this.dropped || frame >= this.count) return null;
    let low = 0, high = this.pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.pieces[middle].start <= frame) low = middle; else high = middle - 1;
    }
    return { piece: this.pieces[low], row: frame - this.pieces[low].start };
  }

  timeOf(frame) {
    const place = this.at(frame);
    return place ? place.piece.t[place.row] : this.end;
  }

  /** Position and quaternion (w, x, y, z) of a body at a place; lies between frames where it must. */
  pose(here, body, position, quaternion) {
    const { piece, row, next, share } = here;
    const p = piece.position, q = piece.quaternion;
    const i = 3 * (row * piece.bodies + body), j = 4 * (row * piece.bodies + body);
    for (let c = 0; c < 3; c++) position[c] = p[i + c];
    for (let c = 0; c < 4; c++) quaternion[c] = q[j + c];
    if (!next || share <= 0) return;
    const p2 = next.piece.position, q2 = next.piece.quaternion;
    const i2 = 3 * (next.row * piece.bodies + body), j2 = 4 * (next.row * piece.bodies + body);
    let dot = 0;
    for (let c = 0; c < 4; c++) dot += quaternion[c] * q2[j2 + c];
    const sign = dot < 0 ? -1 : 1;
    let size = 0;
    for (let c = 0; c < 4; c++) {
      quaternion[c] += share * (sign * q2[j2 + c] - quaternion[c]);
      size += quaternion[c] * quaternion[c];
    }
    size = Math.sqrt(size) || 1;
    for (let c = 0; c < 4; c++) quaternion[c] /= size;
    for (let c = 0; c < 3; c++) position[c] += share * (p2[i2 + c] - position[c]);
  }

  com(here, out) {
    const { piece, row, next, share } = here;
    for (let c = 0; c < 3; c++) {
      const a = piece.com[3 * row + c];
      out[c] = next ? a + share * (next.piece.com[3 * next.row + c] - a) : a;
    }
  }

  /** Numbers of the first contact of a place's frame and of the one after its last. */
  contacts(here) {
    return [here.piece.first[here.row], here.piece.first[here.row + 1]];
  }

  /** A force that almost all contacts stay below: what arrows are measured by [N]. */
  usualForce() {
    const sizes = [];
    for (const { force } of this.pieces) {
      const stride = 3 * Math.max(1, Math.floor(force.length / 3 / 20000));
      for (let i = 0; i < force.length; i += stride) {
        const size = Math.hypot(force[i], force[i + 1], force[i + 2]);
        if (size > 0) sizes.push(size);
      }
    }
    sizes.sort((a, b) => a - b);
    return sizes.length ? sizes[Math.floor(0.95 * (sizes.length - 1))] : 1;
  }
}
