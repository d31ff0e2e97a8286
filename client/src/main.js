// The one entry of the bundle: replays of a page, or the live view where the page says so.

import uPlotStyle from "uplot/dist/uPlot.min.css";
import style from "./client.css";
import { Live } from "./live.js";
import { fillReplays } from "./page.js";

document.head.append(Object.assign(document.createElement("style"), { textContent: uPlotStyle + style }));
const api = { replays: [] }; // what readers of the page and tests may ask
window.taction = api;
const start = () => {
  const live = document.getElementById("live");
  if (live) api.live = new Live(live); else fillReplays(api);
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
