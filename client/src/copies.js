// Copies of one geometry, each with a place and a colour: instances for a graphics card, one mesh in software.
// There every instance costs as much as a call to draw, some 30 µs; moving all vertices here costs less.

import * as THREE from "three";

const WORTH = 8; // copies from which on one mesh is faster

export class Copies {
  constructor(geometry, material, capacity, isSoftware) {
    this.isMerged = isSoftware && capacity >= WORTH;
    if (this.isMerged) this.merge(geometry, material, capacity);
    else this.mesh = new THREE.InstancedMesh(geometry, material, capacity);
    this.mesh.frustumCulled = false;
  }

  merge(geometry, material, capacity) {
    this.source = geometry.attributes.position.array;
    this.normals = material.isMeshBasicMaterial || material.flatShading ? null : geometry.attributes.normal.array;
    this.size = this.source.length;
    const vertices = this.size / 3, index = geometry.index.array;
    this.corners = index.length;
    const all = new Uint32Array(capacity * index.length);
    for (let i = 0; i < capacity; i++) {
      for (let k = 0; k < index.length; k++) all[i * index.length + k] = i * vertices + index[k];
    }
    const merged = new THREE.BufferGeometry();
    for (const name of ["position", "color", ...(this.normals ? ["normal"] : [])]) {
      merged.setAttribute(name, new THREE.BufferAttribute(new Float32Array(capacity * this.size), 3));
    }
    merged.setIndex(new THREE.BufferAttribute(all, 1));
    material.vertexColors = true;
    this.mesh = new THREE.Mesh(merged, material);
  }

  /** Put a copy at a place: a matrix whose axes are across each other. */
  place(i, matrix) {
    if (!this.isMerged) { this.mesh.setMatrixAt(i, matrix); return; }
    const m = matrix.elements, { source, normals, size } = this;
    move(source, this.mesh.geometry.attributes.position.array, i * size, m, 1, 1, 1, m[12], m[13], m[14]);
    if (!normals) return;
    const [a, b, c] = [0, 4, 8].map((k) => 1 / (m[k] * m[k] + m[k + 1] * m[k + 1] + m[k + 2] * m[k + 2]));
    move(normals, this.mesh.geometry.attributes.normal.array, i * size, m, a, b, c, 0, 0, 0);
  }

  paint(i, { r, g, b }) {
    if (!this.isMerged) { this.mesh.setColorAt(i, { r, g, b, toArray: THREE.Color.prototype.toArray }); return; }
    const out = this.mesh.geometry.attributes.color.array, end = (i + 1) * this.size;
    if (out[end - 3] === Math.fround(r) && out[end - 2] === Math.fround(g) && out[end - 1] === Math.fround(b)) return;
    for (let k = i * this.size; k < end; k += 3) { out[k] = r; out[k + 1] = g; out[k + 2] = b; }
    this.isRepainted = true;
  }

  /** Show the first copies as they now are. */
  show(count) {
    const { mesh } = this;
    if (!this.isMerged) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
      mesh.boundingSphere = null;
      return;
    }
    mesh.geometry.setDrawRange(0, count * this.corners);
    mesh.geometry.boundingSphere = null;
    for (const [name, attribute] of Object.entries(mesh.geometry.attributes)) {
      if (name === "color" && !this.isRepainted) continue;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, count * this.size);
      attribute.needsUpdate = true;
    }
    this.isRepainted = false;
  }

  /** Number of the copy that a ray hit. */
  hit({ instanceId, faceIndex }) {
    return this.isMerged ? Math.floor((3 * faceIndex) / this.corners) : instanceId;
  }
}

/** Points or normals of one copy: columns of m by factors, and a shift. */
function move(from, to, at, m, a, b, c, x0, y0, z0) {
  const xx = a * m[0], xy = a * m[1], xz = a * m[2], yx = b * m[4], yy = b * m[5], yz = b * m[6];
  const zx = c * m[8], zy = c * m[9], zz = c * m[10];
  for (let k = 0; k < from.length; k += 3) {
    const x = from[k], y = from[k + 1], z = from[k + 2];
    to[at + k] = xx * x + yx * y + zx * z + x0;
    to[at + k + 1] = xy * x + yy * y + zy * z + y0;
    to[at + k + 2] = xz * x + yz * y + zz * z + z0;
  }
}
