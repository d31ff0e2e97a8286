// Replays of a page: each element of class "replay" holds its drawings as text. What is near what is seen has a
// player; of all others a still remains, so that the page has no holes where it is printed or scrolled fast.

import { decode, fromBase64 } from "./decode.js";
import { element } from "./dom.js";
import { Player } from "./player.js";
import { usePaper } from "./theme.js";

const NEAR = "600px"; // replays this close to what is seen get players
const MOST = 6; // players at the same time: browsers allow a few canvases only
const PATIENCE = 20_000; // the page counts as loaded when all replays are drawn, or after this time [ms]

const begun = new Map(); // by holder, what ends when its player is there
const made = []; // { holder, player, number } of all players

/** Fill all replays of the page: those that come near, and until it is loaded, one after the other, all. */
export function fillReplays(api) {
  const holders = [...document.querySelectorAll(".replay")];
  api.replays = holders.map(() => null);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) fill(target, api, holders.indexOf(target));
  }, { rootMargin: NEAR });
  for (const holder of holders) watch.observe(holder);
  window.addEventListener("beforeprint", () => {
    usePaper(true);
    for (const { player } of made) player.beginPrint();
  });
  window.addEventListener("afterprint", () => {
    usePaper(false);
    for (const { player } of made) player.endPrint();
  });
  const release = delayLoad();
  fillInTurn(holders, api).finally(release);
  setTimeout(release, PATIENCE);
}

/** Keep the page from counting as loaded, for programs that print it then; returns what ends that. */
function delayLoad() {
  if (document.readyState === "complete") return () => {};
  const frame = element("iframe", { hidden: true });
  document.body.append(frame);
  frame.contentDocument?.open(); // an open document is one that loads, and the page waits for its frames
  return () => {
    frame.contentDocument?.close();
    frame.remove();
  };
}

async function fillInTurn(holders, api) {
  for (const [number, holder] of holders.entries()) {
    await fill(holder, api, number);
    await new Promise((done) => { setTimeout(done); }); // the page stays usable meanwhile
  }
}

function fill(holder, api, number) {
  if (!begun.has(holder)) begun.set(holder, makePlayer(holder, api, number));
  return begun.get(holder);
}

async function makePlayer(holder, api, number) {
  try {
    const texts = [...holder.querySelectorAll("script.drawing")];
    const drawings = await Promise.all(texts.map(async (text) => ({
      name: text.dataset.name, drawing: await decode(fromBase64(text.textContent)) })));
    if (made.length >= MOST) dropFarthest(api);
    const still = holder.querySelector(".player");
    const place = element("div", { className: "player" });
    holder.append(place);
    const curvesHolder = document.getElementById(holder.dataset.curves ?? "");
    const player = new Player(place, drawings, { curvesHolder, isInPage: true });
    const notes = drawings[0].drawing.notes;
    if (notes.length) {
      const by = player.theatre.isSoftware ? [" Drawn without a graphics card, in software."] : [];
      place.append(element("p", { className: "note", textContent: [...notes, ...by].join(" ") }));
    }
    still?.remove();
    holder.style.minHeight = "";
    made.push({ holder, player, number });
    api.replays[number] = player;
  } catch (error) {
    holder.append(element("p", { className: "failed", textContent: `The replay cannot be shown: ${error.message}` }));
  }
}

/** Put a still in the place of the player that is farthest from what is seen; one with curves stays. */
function dropFarthest(api) {
  const middle = 0.5 * window.innerHeight;
  const away = ({ holder, player }) => {
    const { top, bottom } = holder.getBoundingClientRect();
    return player.curves ? -1 : Math.abs(0.5 * (top + bottom) - middle);
  };
  const farthest = made.reduce((a, b) => (away(b) > away(a) ? b : a));
  const { holder, player, number } = farthest;
  made.splice(made.indexOf(farthest), 1);
  holder.style.minHeight = `${holder.offsetHeight}px`; // what is below stays where it is
  const still = player.takeStill();
  const parts = player.holder.cloneNode(true);
  parts.querySelector("canvas").replaceWith(still);
  for (const part of parts.querySelectorAll(".bar, .options, .hint")) part.remove();
  player.dispose();
  player.holder.replaceWith(parts);
  begun.delete(holder);
  api.replays[number] = null;
}
