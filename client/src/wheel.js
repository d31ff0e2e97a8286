// The wheel over a replay in a page: it scrolls the page, as over a map; with Ctrl, or after a click, it zooms.

import { element } from "./dom.js";

const SHOWN = 1600; // how long the hint stays [ms]
const HINT = "Ctrl + wheel zooms; after a click the wheel alone does";

/** Leave wheel and vertical swipes over the canvas in a box to the page until the reader asks for them. */
export function leaveWheelToPage(box, canvas) {
  const hint = element("div", { className: "hint", textContent: HINT, hidden: true });
  box.append(hint);
  canvas.style.touchAction = "pan-y"; // a finger up or down scrolls, across it turns the camera; two fingers zoom
  let isTaken = false, timer = null;
  canvas.addEventListener("pointerdown", (event) => { isTaken = event.pointerType !== "touch"; });
  canvas.addEventListener("pointerleave", () => { isTaken = false; });
  box.addEventListener("wheel", (event) => {
    const zooms = isTaken || event.ctrlKey || event.metaKey;
    hint.hidden = zooms;
    if (zooms) return;
    event.stopPropagation(); // the camera does not hear of it, and the page scrolls
    clearTimeout(timer);
    timer = setTimeout(() => { hint.hidden = true; }, SHOWN);
  }, { capture: true, passive: true });
}
