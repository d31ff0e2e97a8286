// What contact does: points, force arrows, friction cones coloured by use; centre of mass, trails, frames.

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Copies } from "./copies.js";

const TRAIL = 2000; // points of a trail
const FEW = 128; // contacts above which their marks get fewer triangles
export const STATES = ["open", "inside", "edge"]; // as in taction/drawing/description.py

/** Draws over the shapes; `update` puts everything at a place of a motion. */
export class Overlays {
  constructor(drawing, motion, group, theme, radius, isSoftware) {
    Object.assign(this, { drawing, motion, theme, radius, isSoftware });
    this.unit = usualSize(drawing, radius);
    this.capacity = 64;
    this.group = group;
    this.show = { points: true, forces: true, cones: true, com: false, trails: false, frames: false };
    this.scale = 1;
    this.usual = motion.count ? motion.usualForce() : 1;
    this.contacts = new THREE.Group();
    group.add(this.contacts);
    this.makeContacts();
    this.com = new THREE.Mesh(
      new THREE.SphereGeometry(0.025 * radius, 20, 14),
      new THREE.MeshBasicMaterial({ color: theme.com, depthTest: false, transparent: true, opacity: 0.9 }));
    this.com.renderOrder = 3;
    this.frames = new THREE.Group();
    for (const _ of drawing.bodies) this.frames.add(new THREE.AxesHelper(0.12 * radius));
    this.trails = new THREE.Group();
    drawing.trails.forEach((trail, i) => this.trails.add(makeTrail(theme.trails[i % theme.trails.length])));
    this.drag = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
      new THREE.LineBasicMaterial({ color: theme.edge, depthTest: false }));
    this.drag.visible = false;
    group.add(this.com, this.frames, this.trails, this.drag);
  }

  makeContacts() {
    const { theme, unit, capacity } = this;
    this.contacts.clear();
    const paint = (geometry, options) => {
      const copies = new Copies(geometry, new THREE.MeshBasicMaterial(options), capacity, this.isSoftware);
      copies.paint(0, new THREE.Color(theme.open));
      this.contacts.add(copies.mesh);
      return copies;
    };
    const isMany = capacity > FEW, around = isMany ? 6 : 14; // sides of what is round
    const above = { depthTest: false, transparent: true, opacity: 0.92 }; // forces are seen through bodies
    this.points = paint(new THREE.SphereGeometry(0.05 * unit, around, around / 2), above);
    this.shafts = paint(new THREE.CylinderGeometry(0.025 * unit, 0.025 * unit, 1, 6, 1, true)
      .translate(0, 0.5, 0).rotateX(Math.PI / 2), above);
    this.heads = paint(new THREE.ConeGeometry(0.075 * unit, 0.2 * unit, around, 1, isMany)
      .translate(0, 0.1 * unit, 0).rotateX(Math.PI / 2), above);
    this.shafts.mesh.renderOrder = this.heads.mesh.renderOrder = 4;
    this.cones = paint(isMany ? coneSide(8) : coneGeometry(2 * around), {
      transparent: true, opacity: 0.28, side: THREE.DoubleSide, depthWrite: false, depthTest: false });
    this.cones.mesh.renderOrder = 2;
    if (this.isSimple) this.simplify(true);
  }

  /** Cones from outside only, where both sides cost too much. */
  simplify(on) {
    this.isSimple = on;
    const { material } = this.cones.mesh;
    material.side = on ? THREE.FrontSide : THREE.DoubleSide;
    material.needsUpdate = true;
  }

  /** Show a spring from a point of a body, in its frame, to one in the world, or none. */
  pull(target, body = -1, point = null) {
    this.drag.visible = target !== null;
    this.pulled = target === null ? null : { target: target.clone(), body, point };
  }

  /** Length that stands for so much force [m/N]. */
  get perNewton() { return (0.3 * this.radius * this.scale) / this.usual; }

  update(here) {
    const [from, to] = this.motion.contacts(here);
    while (to - from > this.capacity) {
      this.capacity *= 2;
      this.makeContacts();
    }
    const { points, forces, cones } = this.show;
    const what = [here.row, this.capacity, this.perNewton, points, forces, cones, this.isSimple].join();
    if (this.piece !== here.piece || this.what !== what) { // contacts are those of a frame, and stay until the next
      this.piece = here.piece;
      this.what = what;
      this.updateContacts(here.piece, from, to, here.piece.open[here.row] > 0);
    }
    const p = [0, 0, 0], q = [0, 0, 0, 0];
    if (this.pulled) {
      this.motion.pose(here, this.pulled.body, p, q);
      const held = this.pulled.point.clone().applyQuaternion(new THREE.Quaternion(q[1], q[2], q[3], q[0]));
      this.drag.geometry.setFromPoints([held.add(new THREE.Vector3(...p)), this.pulled.target]);
    }
    this.com.visible = this.show.com;
    this.motion.com(here, p);
    this.com.position.set(...p);
    this.frames.visible = this.show.frames;
    if (this.show.frames) {
      this.frames.children.forEach((axes, body) => {
        this.motion.pose(here, body, p, q);
        axes.position.set(...p);
        axes.quaternion.set(q[1], q[2], q[3], q[0]);
      });
    }
    this.trails.visible = this.show.trails;
    if (this.show.trails) this.updateTrails(here);
  }

  updateContacts(piece, from, to, isOpen) {
    const { show, theme } = this;
    const point = new THREE.Vector3(), normal = new THREE.Vector3(), force = new THREE.Vector3();
    const tangent = new THREE.Vector3(), across = new THREE.Vector3(), along = new THREE.Vector3(0, 0, 1);
    const matrix = new THREE.Matrix4(), turn = new THREE.Quaternion();
    const one = new THREE.Vector3(1, 1, 1), stretch = new THREE.Vector3(), height = 0.5 * this.unit;
    const perNewton = this.perNewton, colours = [theme.open, theme.inside, theme.edge, theme.loose]
      .map((name) => new THREE.Color(name));
    const onlyOpen = this.isSimple && show.forces && to - from > FEW; // points where there are no arrows
    let points = 0, arrows = 0, cones = 0;
    for (let c = from; c < to; c++) {
      point.fromArray(piece.point, 3 * c);
      const state = piece.state[c];
      let colour = colours[state];
      if (state === 0 || !onlyOpen) {
        this.points.place(points, matrix.makeTranslation(point));
        this.points.paint(points++, colour);
      }
      if (state === 0) continue;
      force.fromArray(piece.force, 3 * c);
      const size = force.length(), length = Math.min(size * perNewton, 3 * this.radius);
      if (length > 1e-3 * this.radius) {
        turn.setFromUnitVectors(along, force.divideScalar(size));
        if (isOpen) colour = colours[3];
        matrix.compose(point, turn, stretch.set(1, 1, length));
        this.shafts.place(arrows, matrix);
        this.shafts.paint(arrows, colour);
        matrix.compose(force.multiplyScalar(length).add(point), turn, one);
        this.heads.place(arrows, matrix);
        this.heads.paint(arrows++, colour);
      }
      if (piece.friction[2 * c] > 0) {
        normal.fromArray(piece.normal, 3 * c);
        tangent.fromArray(piece.tangent, 3 * c);
        across.crossVectors(normal, tangent);
        matrix.makeBasis(
          tangent.multiplyScalar(height * piece.friction[2 * c]),
          across.multiplyScalar(height * piece.friction[2 * c + 1]),
          normal.multiplyScalar(height)).setPosition(point);
        this.cones.place(cones, matrix);
        this.cones.paint(cones++, colours[state]);
      }
    }
    for (const [copies, count, on] of [
      [this.points, points, show.points], [this.shafts, arrows, show.forces],
      [this.heads, arrows, show.forces], [this.cones, cones, show.cones]]) {
      copies.mesh.visible = on && count > 0;
      copies.show(count);
    }
  }

  updateTrails(here) {
    const p = [0, 0, 0], q = [0, 0, 0, 0], place = new THREE.Vector3(), turn = new THREE.Quaternion();
    const first = this.motion.dropped, step = Math.max(1, Math.ceil((here.frame + 1 - first) / TRAIL));
    this.drawing.trails.forEach((trail, i) => {
      const line = this.trails.children[i], points = line.geometry.attributes.position;
      let count = 0;
      for (let frame = first; frame <= here.frame && count < TRAIL; frame += step) {
        const there = { ...this.motion.at(frame), next: null, share: 0 };
        if (trail.body < 0) this.motion.com(there, p);
        else {
          this.motion.pose(there, trail.body, p, q);
          place.set(...trail.point).applyQuaternion(turn.set(q[1], q[2], q[3], q[0]));
          p[0] += place.x; p[1] += place.y; p[2] += place.z;
        }
        points.setXYZ(count++, p[0], p[1], p[2]);
      }
      line.geometry.setDrawRange(0, count);
      points.needsUpdate = true;
    });
  }
}

/** What contact is drawn by: the middle one of the parts' sizes, within limits of what is seen [m]. */
function usualSize(drawing, radius) {
  const sizes = drawing.parts.filter(({ kind, body }) => body >= 0 && kind !== "mesh")
    .map(({ kind, size }) => 2 * (kind === "sphere" ? size[0] : Math.max(...size))).sort((a, b) => a - b);
  const middle = sizes.length ? sizes[sizes.length >> 1] : 0.3 * radius;
  return Math.min(Math.max(middle, 0.06 * radius), 0.4 * radius);
}

function makeTrail(colour) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * TRAIL), 3));
  const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour }));
  line.frustumCulled = false;
  return line;
}

/** A cone of unit height and radius with its tip in the origin, opening along z, with a rim. */
function coneGeometry(sides) {
  return mergeGeometries([coneSide(sides), new THREE.RingGeometry(0.94, 1, sides).translate(0, 0, 1)]);
}

/** The same without its rim. */
function coneSide(sides) {
  return new THREE.ConeGeometry(1, 1, sides, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
}
