// Replays of a page: each element of class "replay" holds its drawings as text and is filled when it is near.

import { decode, fromBase64 } from "./decode.js";
import { element } from "./dom.js";
import { Player } from "./player.js";

const NEAR = "600px"; // replays this close to what is seen are made; browsers allow a few canvases only
const MOST = 6; // of them that are kept at the same time

const made = []; // holders with a player, oldest first

/** Fill all replays of the page, now or when they come near. */
export function fillReplays(api) {
  const holders = [...document.querySelectorAll(".replay")];
  api.replays = holders.map(() => null);
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) fill(target, api, holders.indexOf(target));
  }, { rootMargin: NEAR });
  for (const holder of holders) watch.observe(holder);
}

async function fill(holder, api, number) {
  if (holder.dataset.filled) return;
  holder.dataset.filled = "true";
  try {
    const texts = [...holder.querySelectorAll("script.drawing")];
    const drawings = await Promise.all(texts.map(async (text) => ({
      name: text.dataset.name, drawing: await decode(fromBase64(text.textContent)) })));
    if (made.length >= MOST) drop(made.shift(), api);
    const place = element("div", { className: "player" });
    holder.append(place);
    const curvesHolder = document.getElementById(holder.dataset.curves ?? "");
    const player = new Player(place, drawings, { curvesHolder });
    const notes = drawings[0].drawing.notes;
    if (notes.length) {
      const by = player.theatre.isSoftware ? [" Drawn without a graphics card, in software."] : [];
      place.append(element("p", { className: "note", textContent: [...notes, ...by].join(" ") }));
    }
    made.push({ holder, player, number });
    api.replays[number] = player;
  } catch (error) {
    holder.append(element("p", { className: "failed", textContent: `The replay cannot be shown: ${error.message}` }));
  }
}

function drop({ holder, player, number }, api) {
  player.dispose();
  holder.querySelector(".player")?.remove();
  delete holder.dataset.filled;
  api.replays[number] = null;
}
