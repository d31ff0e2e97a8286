// One drawing in three dimensions: its shapes, ground, lights and overlays, at a time.

import * as THREE from "three";
import { makeGround } from "./ground.js";
import { Overlays } from "./overlays.js";
import { Shapes } from "./shapes.js";

const SUN = new THREE.Vector3(-1.6, -2.2, 4.2); // where light comes from
const PLACE = [0, 0, 0]; // made once: frames follow each other fast

export class Stage {
  constructor(drawing, motion, theme, isSoftware) {
    this.drawing = drawing;
    this.motion = motion;
    this.radius = drawing.view.radius;
    this.scene = new THREE.Scene();
    this.scene.background = new THREE.Color(theme.paper);
    this.scene.fog = new THREE.Fog(theme.paper, 8 * this.radius, 28 * this.radius);
    const { group, cell } = makeGround(drawing, this.radius, theme, isSoftware);
    this.cell = group.children.length ? cell : 0;
    this.ground = group;
    const things = new THREE.Group();
    this.scene.add(group, things);
    this.light(theme, isSoftware ? 1024 : 2048);
    this.shapes = new Shapes(drawing, motion, things, theme, isSoftware);
    this.overlays = new Overlays(drawing, motion, things, theme, this.radius, isSoftware);
    this.here = null;
    this.middle = new THREE.Vector3(...drawing.view.target);
    this.com = new THREE.Vector3();
  }

  light(theme, pixels) {
    const r = this.radius;
    this.scene.add(new THREE.HemisphereLight(theme.sky, theme.earth, 2.0));
    this.sun = new THREE.DirectionalLight("#ffffff", 1.7);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(pixels, pixels);
    const box = this.sun.shadow.camera;
    Object.assign(box, { left: -1.6 * r, right: 1.6 * r, top: 1.6 * r, bottom: -1.6 * r, near: 0.1 * r, far: 12 * r });
    this.sun.shadow.normalBias = 0.004 * r;
    this.sun.shadow.bias = -0.0004;
    this.scene.add(this.sun, this.sun.target);
  }

  /** Put everything at a time; returns where the centre of mass is. */
  update(time) {
    if (!this.motion.count) return this.middle;
    this.here = this.motion.place(time);
    this.shapes.update(this.here);
    this.overlays.update(this.here);
    this.motion.com(this.here, PLACE);
    this.com.fromArray(PLACE);
    const about = this.drawing.view.follow ? this.com : this.middle;
    this.sun.target.position.copy(about);
    this.sun.position.copy(SUN).multiplyScalar(1.1 * this.radius).add(about);
    return this.com;
  }

  /** Ground and cones that cost less to draw, for software: no light on the ground, cones from one side. */
  simplify(on) {
    if (this.isSimple === on) return;
    this.isSimple = on;
    for (const mesh of this.ground.children) mesh.material = on ? mesh.userData.plain : mesh.userData.lit;
    this.overlays.simplify(on);
  }

  dispose() {
    this.scene.traverse((thing) => {
      thing.geometry?.dispose();
      thing.material?.map?.dispose();
      thing.material?.dispose();
      thing.userData.lit?.dispose();
      thing.userData.plain?.dispose();
      if (thing.isInstancedMesh) thing.dispose();
    });
  }
}
