// Parts of a drawing: equal shapes are drawn together, each at its body's pose.

import * as THREE from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Copies } from "./copies.js";

const CREASE = 0.7; // angle between faces above which an edge is sharp [rad]
const FINE = 300, COARSE = 1500; // parts above which round shapes get fewer triangles, and very few
const COARSE_IN_SOFTWARE = 500;

/** What is drawn of a drawing's parts; `update` puts it at a place of a motion. */
export class Shapes {
  constructor(drawing, motion, group, theme, isSoftware) {
    this.isSoftware = isSoftware;
    this.drawing = drawing;
    this.motion = motion;
    this.groups = [];
    const count = drawing.parts.length;
    this.isCoarse = count > (isSoftware ? COARSE_IN_SOFTWARE : COARSE);
    const around = this.isCoarse ? 6 : count > FINE ? 12 : 36;
    this.poses = drawing.bodies.map(() => new THREE.Matrix4());
    const kinds = new Map();
    for (const part of drawing.parts) {
      if (part.kind === "plane") continue;
      const opacity = part.colour ? part.colour[3] : 1;
      const key = [part.kind, part.mesh, part.kind === "capsule" ? part.size : "", part.shown, opacity].join();
      if (!kinds.has(key)) kinds.set(key, []);
      kinds.get(key).push(part);
    }
    for (const parts of kinds.values()) this.groups.push(this.instances(parts, around, theme));
    for (const { mesh } of this.groups) group.add(mesh);
    this.showCollision(false);
  }

  instances(parts, around, theme) {
    const first = parts[0];
    const opacity = first.colour ? first.colour[3] : 1;
    const material = new THREE.MeshLambertMaterial({
      transparent: opacity < 1, opacity, flatShading: this.isCoarse && this.isSoftware,
      side: first.kind === "mesh" ? THREE.DoubleSide : THREE.FrontSide,
    });
    const copies = new Copies(geometryOf(first, this.drawing, around), material, parts.length,
      this.isSoftware && first.kind !== "mesh"), { mesh } = copies;
    mesh.castShadow = opacity > 0.5;
    mesh.receiveShadow = true;
    const local = parts.map((part) => {
      const q = part.quaternion;
      return new THREE.Matrix4().compose(
        new THREE.Vector3(...part.position), new THREE.Quaternion(q[1], q[2], q[3], q[0]), scaleOf(part));
    });
    parts.forEach((part, i) => copies.paint(i, part.colour
      ? new THREE.Color().setRGB(part.colour[0], part.colour[1], part.colour[2], THREE.SRGBColorSpace)
      : new THREE.Color(theme.fixed)));
    return { copies, mesh, parts, local, shown: first.shown };
  }

  showCollision(on) {
    for (const { mesh, shown } of this.groups) {
      mesh.visible = shown === "both" || shown === (on ? "collision" : "look");
    }
  }

  update(here) {
    const { poses } = this, { position, quaternion: q, place, turn, matrix } = WORK;
    for (let body = 0; body < poses.length; body++) {
      this.motion.pose(here, body, position, q);
      poses[body].compose(place.fromArray(position), turn.set(q[1], q[2], q[3], q[0]), ONE);
    }
    for (const { copies, mesh, parts, local } of this.groups) {
      if (!mesh.visible) continue;
      for (let i = 0; i < parts.length; i++) {
        const { body } = parts[i];
        copies.place(i, body < 0 ? local[i] : matrix.multiplyMatrices(poses[body], local[i]));
      }
      copies.show(parts.length);
    }
  }

  /** Body and point under a ray, the nearest one that moves; null if there is none. */
  pick(raycaster) {
    let best = null;
    for (const { copies, mesh, parts } of this.groups) {
      if (!mesh.visible) continue;
      for (const hit of raycaster.intersectObject(mesh)) {
        const { body } = parts[copies.hit(hit)];
        if (body >= 0 && (!best || hit.distance < best.distance)) {
          best = { body, point: hit.point, distance: hit.distance };
        }
      }
    }
    return best;
  }
}

const ONE = new THREE.Vector3(1, 1, 1);
const WORK = { // made once: frames follow each other fast
  position: [0, 0, 0], quaternion: [0, 0, 0, 0], place: new THREE.Vector3(), turn: new THREE.Quaternion(),
  matrix: new THREE.Matrix4(),
};

function scaleOf({ kind, size }) {
  if (kind === "sphere") return new THREE.Vector3(size[0], size[0], size[0]);
  if (kind === "box" || kind === "ellipsoid") return new THREE.Vector3(...size);
  if (kind === "cylinder" || kind === "cone") return new THREE.Vector3(size[0], size[0], size[1]);
  return ONE;
}

/** Unit geometry of a kind, along z; capsules and meshes have their own size. */
function geometryOf(part, drawing, around) {
  switch (part.kind) {
    case "sphere": case "ellipsoid": return new THREE.SphereGeometry(1, around, Math.ceil(0.6 * around));
    case "box": return new THREE.BoxGeometry(2, 2, 2);
    case "capsule":
      return new THREE.CapsuleGeometry(part.size[0], 2 * part.size[1], Math.floor(0.27 * around), Math.ceil(0.8 * around))
        .rotateX(Math.PI / 2);
    case "cylinder": return new THREE.CylinderGeometry(1, 1, 2, around).rotateX(Math.PI / 2);
    case "cone": return new THREE.ConeGeometry(1, 2, around).rotateX(Math.PI / 2);
    default: return meshOf(drawing.meshes[part.mesh]);
  }
}

function meshOf({ vertices, faces }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(vertices), 3));
  geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(faces), 1));
  return toCreasedNormals(geometry, CREASE);
}
