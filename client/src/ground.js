// Planes of a drawing: ground with a grid of round lengths that takes shadows and fades into the distance.

import * as THREE from "three";

const LIT = "#ececec"; // what light makes of the ground, where it is not computed

/** Meshes of all planes, and the length of a grid cell [m]. */
export function makeGround(drawing, radius, theme, isSoftware) {
  const cell = roundLength(radius / 3);
  const group = new THREE.Group();
  for (const part of drawing.parts) {
    if (part.kind !== "plane") continue;
    const q = part.quaternion;
    const turn = new THREE.Quaternion(q[1], q[2], q[3], q[0]);
    const up = new THREE.Vector3(0, 0, 1).applyQuaternion(turn);
    const isLevel = up.z > 0.999;
    const size = (isLevel ? 60 : 6) * radius;
    const cells = 2 * Math.ceil(size / cell / 2);
    const mesh = new THREE.Mesh(
      new THREE.PlaneGeometry(cells * cell, cells * cell),
      new THREE.MeshLambertMaterial({ map: gridTexture(cells, theme, isSoftware) }));
    mesh.receiveShadow = true;
    mesh.quaternion.copy(turn);
    mesh.position.set(...part.position);
    mesh.userData.lit = mesh.material;
    mesh.userData.plain = new THREE.MeshBasicMaterial({ map: mesh.material.map, color: LIT });
    group.add(mesh);
  }
  return { group, cell };
}

/** 1, 2 or 5 times a power of ten, at most x. */
export function roundLength(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * (x / power >= 5 ? 5 : x / power >= 2 ? 2 : 1);
}

function gridTexture(cells, theme, isSoftware) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const pen = canvas.getContext("2d");
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, 256, 256);
  pen.fillStyle = theme.groundDark;
  pen.fillRect(0, 0, 128, 128);
  pen.fillRect(128, 128, 128, 128);
  pen.strokeStyle = theme.line;
  pen.lineWidth = 2;
  for (const x of [0, 128, 256]) {
    pen.beginPath(); pen.moveTo(x, 0); pen.lineTo(x, 256); pen.moveTo(0, x); pen.lineTo(256, x); pen.stroke();
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.repeat.set(cells / 2, cells / 2);
  texture.anisotropy = isSoftware ? 1 : 8; // half of the time of a frame in software
  if (isSoftware) texture.minFilter = THREE.LinearMipmapNearestFilter;
  return texture;
}
