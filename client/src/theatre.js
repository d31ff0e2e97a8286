// A canvas that shows one or several stages beside each other, with one camera for all of them.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export const VIEWS = { // as in taction/drawing/view.py [degree]
  corner: [-60, 22], side: [-90, 7], front: [0, 7], above: [-90, 89], slanted: [-90, 55],
};
const SLOW = 30; // a frame that takes longer [ms] makes the picture simpler
// Shadows, and pixels drawn per pixel of the page. In software edges are smoothed by more pixels at the best
// level, which is that of a still picture, and not by samples, which would cost as much at every level.
const LEVELS = [[false, 0.45], [false, 0.7], [false, 1], [true, 2]];
const SMOOTH = 1.5;
const SOFTWARE = /swiftshader|llvmpipe|software/i;
const KEPT = 240; // frame times that are remembered

export class Theatre {
  constructor(canvas, theme) {
    this.canvas = canvas;
    this.theme = theme;
    this.stages = [];
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !isSoftware() });
    this.rendererName = nameOf(this.renderer.getContext());
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.autoClear = false;
    this.camera = new THREE.PerspectiveCamera(36, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => { this.isStale = true; });
    this.follow = false;
    this.followed = null;
    this.frameTimes = [];
    this.quality = 3; // of LEVELS
    this.isMoving = false;
    this.isStale = true;
    this.watch = new ResizeObserver(() => { this.isStale = true; });
    this.watch.observe(canvas);
  }

  get isSoftware() { return SOFTWARE.test(this.rendererName); }

  /** What is drawn at rest has all pixels, however slow the motion was. */
  get level() { return this.isMoving ? this.quality : Math.max(this.quality, 2); }

  /** Pixels drawn per pixel of the page, along each side. */
  get ratio() {
    const [, most] = LEVELS[this.level];
    return this.level === 3 && this.isSoftware ? SMOOTH : Math.min(window.devicePixelRatio, most);
  }

  show(stages) {
    for (const stage of this.stages) if (!stages.includes(stage)) stage.dispose();
    this.stages = stages;
    this.isStale = true;
  }

  /** Look as a view says: angles in degrees; target and half extents of what is to be seen in metres. */
  look({ azimuth, elevation, target, half }) {
    const a = (azimuth * Math.PI) / 180, e = (elevation * Math.PI) / 180;
    const middle = this.follow && this.followed ? this.followed : new THREE.Vector3(...target);
    const [, , w, h] = this.places()[0] ?? [0, 0, 1, 1];
    const back = new THREE.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
    const right = new THREE.Vector3(-Math.sin(a), Math.cos(a), 0), up = new THREE.Vector3().crossVectors(back, right);
    const steep = Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    let distance = 0; // at which every corner of the box is inside the picture
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(...half.map((x, i) => (k & (1 << i) ? x : -x)));
      const wide = Math.max(Math.abs(corner.dot(up)), Math.abs(corner.dot(right)) / (w / h));
      distance = Math.max(distance, corner.dot(back) + wide / steep);
    }
    distance *= 1.12;
    this.camera.position.copy(back).multiplyScalar(distance).add(middle);
    this.camera.near = 0.002 * distance;
    this.camera.far = 60 * distance;
    this.controls.target.copy(middle);
    this.controls.maxDistance = 12 * distance;
    this.controls.update();
    this.isStale = true;
  }

  /** Where stages lie in the canvas: x, y, width, height in its own pixels, from below. */
  places() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const count = Math.max(1, this.stages.length);
    // how large a picture of 4 to 3 is with k columns, less for places that stay empty
    const worth = (k) => Math.min(w / k / 4, h / Math.ceil(count / k) / 3) - 1e-3 * (k * Math.ceil(count / k) - count) * w;
    let columns = 1;
    for (let k = 2; k <= count; k++) if (worth(k) > worth(columns)) columns = k;
    const rows = Math.ceil(count / columns);
    return this.stages.map((_, i) => {
      const c = i % columns, r = Math.floor(i / columns);
      return [(w * c) / columns, h - (h * (r + 1)) / rows, w / columns, h / rows];
    });
  }

  /** Draw all stages at a time. */
  draw(time) {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w || !h) return;
    const [hasShadows] = LEVELS[this.level];
    if (this.renderer.getPixelRatio() !== this.ratio) this.renderer.setPixelRatio(this.ratio);
    const size = this.renderer.getSize(new THREE.Vector2());
    if (size.x !== w || size.y !== h) this.renderer.setSize(w, h, false);
    this.renderer.setScissorTest(true);
    const places = this.places();
    const coms = this.stages.map((stage) => stage.update(time));
    if (coms.length) this.track(coms[0]);
    this.stages.forEach((stage, i) => {
      const [x, y, width, height] = places[i];
      const aside = this.follow ? coms[i].clone().sub(coms[0]) : null; // each stage follows its own
      if (aside) this.camera.position.add(aside);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
      stage.sun.castShadow = hasShadows;
      stage.simplify(this.isSoftware && !hasShadows);
      this.renderer.setViewport(x, y, width, height);
      this.renderer.setScissor(x, y, width, height);
      this.renderer.clear();
      this.camera.updateMatrixWorld();
      this.renderer.render(stage.scene, this.camera);
      if (aside) this.camera.position.sub(aside);
    });
    this.isStale = false;
  }

  track(com) {
    if (this.follow && this.followed) {
      const move = com.clone().sub(this.followed);
      this.camera.position.add(move);
      this.controls.target.add(move);
      this.controls.update();
    }
    this.followed = com.clone();
  }

  /** Say whether it moves, and how long the last frame took: pictures that take long are made simpler. */
  move(isMoving, milliseconds) {
    if (isMoving !== this.isMoving) this.isStale = true;
    this.isMoving = isMoving;
    if (!isMoving || milliseconds == null) return;
    if (this.isSoftware) this.quality = Math.min(this.quality, 2);
    this.frameTimes.push(milliseconds);
    if (this.frameTimes.length > KEPT) this.frameTimes.shift();
    const isSlow = (count, limit) => this.frameTimes.length >= count
      && this.frameTimes.slice(-count).reduce((a, b) => a + b, 0) > count * limit;
    if (this.quality > 0 && (isSlow(12, SLOW) || isSlow(3, 4 * SLOW))) {
      this.quality -= 1;
      this.frameTimes = [];
    }
  }

  /** The moving body and point under a pixel of the canvas, and which stage. */
  pick(x, y) {
    const h = this.canvas.clientHeight;
    for (const [i, [left, below, w, height]] of this.places().entries()) {
      const top = h - below - height;
      if (x < left || x >= left + w || y < top || y >= top + height) continue;
      const place = new THREE.Vector2((2 * (x - left)) / w - 1, 1 - (2 * (y - top)) / height);
      this.camera.aspect = w / height;
      this.camera.updateProjectionMatrix();
      const ray = new THREE.Raycaster();
      ray.setFromCamera(place, this.camera);
      return { stage: i, ray: ray.ray, hit: this.stages[i].shapes.pick(ray) };
    }
    return null;
  }

  dispose() {
    this.show([]);
    this.watch.disconnect();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

function nameOf(gl) {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
}

let known = null;

/** Whether pictures are drawn without a graphics card; asked of a canvas of its own, once. */
function isSoftware() {
  if (known === null) {
    const gl = document.createElement("canvas").getContext("webgl2");
    known = gl ? SOFTWARE.test(nameOf(gl)) : false;
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
  return known;
}
