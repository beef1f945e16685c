// The time machine without reloading: moves from version to version, play, and what is new while it is open.
// Every move is a link that works without this; the address always names what is on screen.
import { register } from "./keys.js";
import { announce, flash } from "./live.js";
import "./state_tree.js";

const PREFETCHED_FOR = 20000; // ms; later the page may hold something else
const POLL_EVERY = 2000;
const REAL_AT_MOST = 10000;

const machine = () => document.getElementById("machine");
const number = () => Number(machine().dataset.number);
const head = () => Number(machine().dataset.head);
const address = (version) => `${machine().dataset.base}v/${version}${machine().dataset.keep}`;

// Moving -----------------------------------------------------------------------------------------------

const prefetched = new Map();
let moving = null; // the request under way; a newer move takes its place
let dragging = false;

const ask = (url, options) => fetch(url, { headers: { "HX-Request": "true" }, ...options });

async function read(url, signal) {
  const kept = prefetched.get(url);
  for (const [other, { stop }] of prefetched) if (other !== url) stop.abort();
  prefetched.delete(url);
  const html = kept && Date.now() - kept.at < PREFETCHED_FOR ? await kept.html : null;
  if (html) return html;
  const answer = await ask(url, { signal });
  if (answer.redirected && new URL(answer.url).pathname === document.body.dataset.signIn) {
    flash("warning", "Your sign-in has ended. Sign in again in another tab, then repeat; what you typed here stays.");
    return null;
  }
  if (!answer.ok) {
    location.assign(url); // its own page says why
    return null;
  }
  return answer.text();
}

/**
 * Show the time machine at `url`. Resolves to whether it is shown.
 * `entry` says what becomes of the browser's history: "push", "replace" or "keep".
 */
async function move(url, { entry = "push" } = {}) {
  moving?.abort();
  const mine = moving = new AbortController();
  let html;
  try {
    html = await read(url, mine.signal);
  } catch (fault) {
    if (fault.name !== "AbortError") flash("error", "The server could not be reached. Check the connection, then repeat.");
    return false;
  } finally {
    if (moving === mine) moving = null;
  }
  if (html === null || mine.signal.aborted) return false;
  const page = new DOMParser().parseFromString(html, "text/html");
  show(page.getElementById("machine"));
  document.title = page.title;
  const shown = machine().dataset.address;
  if (entry !== "keep" && shown !== location.pathname + location.search) history[`${entry}State`]({}, "", shown);
  seenHead = head();
  announce(`Version ${number()} of ${head()}`);
  schedulePrefetch();
  return true;
}

/** Put `fresh` in place of the machine, and leave everything that a person holds or reads where it is. */
function show(fresh) {
  const old = machine();
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const reason = old.querySelector("#reason");
  const freshReason = fresh.querySelector("#reason");
  const places = scrollPlaces(old, fresh.dataset.number);
  const incidents = old.querySelector("#incidents-of-session");
  if (incidents) fresh.querySelector("#incidents-of-session")?.replaceWith(incidents);
  if (reason && freshReason && reason.value !== reason.defaultValue) freshReason.value = reason.value;
  if (dragging) exchangeParts(old, fresh);
  else old.replaceWith(fresh);
  restore(places);
  showPlaying();
  if (focused && !dragging) document.getElementById(focused)?.focus({ preventScroll: true });
  machine().dispatchEvent(new CustomEvent("machine:shown", { bubbles: true }));
}

/** While the slider is under the hand it must stay; what shows the version is exchanged round it. */
function exchangeParts(old, fresh) {
  for (const part of ["#rail", ".machine-cols"]) old.querySelector(part).replaceWith(fresh.querySelector(part));
  Object.assign(old.dataset, fresh.dataset);
}

/** Where lists are scrolled to: the row of the version to be shown stays where it is on the screen. */
function scrollPlaces(old, version) {
  const list = old.querySelector("#version-list");
  const row = list?.querySelector(`#v${version}`);
  return {
    list: list?.scrollTop ?? 0,
    row: row ? row.offsetTop - list.scrollTop : null,
    rail: old.querySelector("#rail").scrollLeft,
    tree: old.querySelector("#tree")?.scrollTop ?? 0,
  };
}

function restore(places) {
  const list = document.getElementById("version-list");
  const row = list?.querySelector(".version.on");
  if (list) list.scrollTop = row && places.row !== null ? row.offsetTop - places.row : places.list;
  const tree = document.getElementById("tree");
  if (tree) tree.scrollTop = places.tree;
  document.getElementById("rail").scrollLeft = places.rail;
  bringSelectedIntoView();
}

function bringSelectedIntoView() {
  const list = document.getElementById("version-list");
  const row = list?.querySelector(".version.on");
  if (row && list.scrollHeight > list.clientHeight) {
    if (row.offsetTop < list.scrollTop) list.scrollTop = row.offsetTop - 40;
    const end = row.offsetTop + row.offsetHeight;
    if (end > list.scrollTop + list.clientHeight) list.scrollTop = end - list.clientHeight + 40;
  }
  const rail = document.getElementById("rail");
  const x = Number(rail.querySelector(".cursor")?.getAttribute("cx") ?? 0);
  if (x < rail.scrollLeft + 40 || x > rail.scrollLeft + rail.clientWidth - 40) rail.scrollLeft = x - rail.clientWidth / 2;
}

function goTo(version, entry = "push") {
  const target = Math.max(0, Math.min(head(), version));
  if (target === number()) return Promise.resolve(true);
  // Said at once: the page follows as soon as it comes.
  document.getElementById("where").textContent = `v${target} of ${head()}`;
  if (!dragging) document.getElementById("slider").value = target;
  return move(address(target), { entry });
}

// Keys repeat faster than pages come: steps add up, and the last place is gone to.
let wanted = null;
let stepping = false;

async function step(by) {
  wanted = Math.max(0, Math.min(head(), (wanted ?? number()) + by));
  if (stepping) return;
  stepping = true;
  while (wanted !== null && wanted !== number()) {
    const target = wanted;
    if (!await goTo(target)) break;
    if (wanted === target) break;
  }
  wanted = null;
  stepping = false;
}

let prefetchTimer = 0;

/** Read both neighbours while nothing else is to do, so that a step shows at once. */
function schedulePrefetch() {
  clearTimeout(prefetchTimer);
  prefetchTimer = setTimeout(async () => {
    for (const [url, { at }] of prefetched) if (Date.now() - at > PREFETCHED_FOR) prefetched.delete(url);
    for (const version of [number() + 1, number() - 1]) {
      const url = address(version);
      if (version < 0 || version > head() || prefetched.has(url) || moving) continue;
      const stop = new AbortController();
      const html = ask(url, { signal: stop.signal, priority: "low" })
        .then((answer) => (answer.ok && !answer.redirected ? answer.text() : null))
        .catch(() => { prefetched.delete(url); return null; });
      prefetched.set(url, { html, stop, at: Date.now() });
      await html;
    }
  }, 250);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#machine a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const target = new URL(link.getAttribute("href"), location.href);
  const rest = target.pathname.startsWith(machine().dataset.base) ? target.pathname.slice(machine().dataset.base.length) : null;
  if (rest === null || !/^(v\/\d+)?$/.test(rest) || target.hash || target.origin !== location.origin) return;
  event.preventDefault();
  stopPlaying();
  move(target.pathname + target.search);
});

window.addEventListener("popstate", () => {
  if (!machine() || location.pathname + location.search === machine().dataset.address) return;
  if (location.pathname.startsWith(machine().dataset.base)) move(location.pathname + location.search, { entry: "keep" });
});

// Slider and number ------------------------------------------------------------------------------------

let slideTimer = 0;
let slid = false; // one drag is one entry of the history

document.addEventListener("pointerdown", (event) => {
  if (event.target.id !== "slider") return;
  dragging = true;
  slid = false;
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    if (!dragging) return;
    dragging = false;
    clearTimeout(slideTimer);
    move(address(Number(document.getElementById("slider").value)), { entry: slid ? "replace" : "push" });
  });
}
document.addEventListener("input", (event) => {
  if (event.target.id !== "slider") return;
  const target = Number(event.target.value);
  document.getElementById("where").textContent = `v${target} of ${head()}`;
  clearTimeout(slideTimer);
  slideTimer = setTimeout(async () => {
    const shown = await goTo(target, slid ? "replace" : "push");
    slid = dragging && (slid || shown);
  }, 60);
});

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "go-to") return;
  if (event.key === "Escape") { event.target.value = ""; event.target.blur(); }
  if (event.key !== "Enter") return;
  event.preventDefault();
  const asked = event.target.value.trim().replace(/^:?v?/, "");
  if (!/^\d+$/.test(asked)) { flash("warning", "Type the number of a version, such as 12."); return; }
  if (Number(asked) > head()) { flash("warning", `There is no version ${asked}: the versions are 0 to ${head()}.`); return; }
  event.target.blur();
  goTo(Number(asked));
});

// Play -------------------------------------------------------------------------------------------------

let playing = null; // "1", "4" or "real"
let playTimer = 0;

function interval() {
  if (playing !== "real") return 1000 / Number(playing);
  const times = [number(), number() + 1].map((version) => Date.parse(document.querySelector(`#v${version} time`)?.dateTime));
  const between = times[1] - times[0];
  return Number.isFinite(between) ? Math.max(50, Math.min(REAL_AT_MOST, between)) : 1000;
}

function playOn() {
  clearTimeout(playTimer);
  if (!playing) return;
  if (number() >= head()) { stopPlaying(); return; }
  playTimer = setTimeout(async () => {
    if (!playing) return;
    if (await goTo(number() + 1, "replace")) playOn(); else stopPlaying();
  }, interval());
}

function stopPlaying() {
  playing = null;
  clearTimeout(playTimer);
  showPlaying();
}

function showPlaying() {
  for (const button of document.querySelectorAll("[data-play]")) button.setAttribute("aria-pressed", String(button.dataset.play === playing));
}

async function play(speed) {
  if (playing === speed) { stopPlaying(); return; }
  playing = speed;
  showPlaying();
  if (number() >= head() && !await goTo(0)) { stopPlaying(); return; }
  playOn();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-play]");
  if (button) play(button.dataset.play);
});

// Live -------------------------------------------------------------------------------------------------

let seenHead = machine() ? head() : 0; // up to where a person has seen the session
let failures = 0;

async function poll() {
  const { base, turns, frozen } = machine().dataset;
  const answer = await ask(`${base}live?after=${seenHead}&turns=${turns}&frozen=${frozen}`);
  if (answer.redirected || !answer.ok) throw new Error("no news");
  const news = document.getElementById("newer");
  const html = answer.status === 204 ? "" : await answer.text();
  if (!news || news.dataset.said === html) return;
  news.dataset.said = html;
  news.innerHTML = html;
  const newest = Number(news.querySelector("[data-head]")?.dataset.head ?? 0);
  if (newest <= head()) return;
  prefetched.clear();
  if ("follow" in machine().dataset) await move(`${base}?follow=1`, { entry: "keep" });
  else if (!dragging && !playing) await appendQuietly(html);
}

/** Take the new versions into the list, the rail and the slider; what is being read does not move. */
async function appendQuietly(news) {
  const stays = address(number());
  const answer = await ask(stays);
  if (!answer.ok || answer.redirected || moving) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("machine");
  if (fresh.dataset.number !== machine().dataset.number) return;
  if (location.pathname === machine().dataset.base) {
    // What was the current version is one of many now, and the address names what is on screen.
    history.replaceState({}, "", stays);
    machine().dataset.address = stays;
  }
  const list = document.getElementById("version-list");
  const anchor = list && [...list.children].find((row) => row.offsetTop + row.offsetHeight > list.scrollTop);
  const places = anchor && { id: anchor.id, top: anchor.offsetTop - list.scrollTop };
  const rail = document.getElementById("rail");
  const railLeft = rail.scrollLeft;
  rail.replaceWith(fresh.querySelector("#rail"));
  document.getElementById("rail").scrollLeft = railLeft;
  if (list && fresh.querySelector("#version-list")) {
    list.replaceWith(fresh.querySelector("#version-list"));
    const row = places?.id && document.getElementById(places.id);
    if (row) document.getElementById("version-list").scrollTop = row.offsetTop - places.top;
  }
  document.getElementById("slider").max = fresh.dataset.head;
  machine().dataset.head = fresh.dataset.head;
  document.getElementById("where").textContent = `v${number()} of ${head()}`;
  document.getElementById("newer").innerHTML = news;
}

async function keepLooking() {
  if (!document.hidden && machine() && !moving) {
    try { await poll(); failures = 0; } catch { failures += 1; }
  }
  setTimeout(keepLooking, POLL_EVERY * (failures > 3 ? 5 : 1));
}

// Keys -------------------------------------------------------------------------------------------------

const here = { scope: "Timeline", when: () => machine() !== null };
const walk = (by) => () => { stopPlaying(); step(by); };
register("j", "Next version", walk(1), here);
register("k", "Previous version", walk(-1), here);
register("J", "Ten versions on", walk(10), here);
register("K", "Ten versions back", walk(-10), here);
register("0", "First version", () => goTo(0), here);
register("$", "Current version", () => goTo(head()), here);
register("P", "Play, or stop playing", () => (playing ? stopPlaying() : play("1")), here);

if (machine()) {
  bringSelectedIntoView();
  const list = document.getElementById("version-list");
  const row = list?.querySelector(".version.on");
  if (row) list.scrollTop = row.offsetTop - list.clientHeight / 4;
  schedulePrefetch();
  setTimeout(keepLooking, POLL_EVERY);
}
