// One table of keys: handlers, hints and the sheet under `?` are all made from it.
//
//   import { register } from "./keys.js";
//   register("j", "Next version", () => …, { scope: "Timeline" });
//   register("z Enter", "Freeze", () => …);                        two keys, one after the other
//
// or in markup, where the key does what a click (on a field: focus) does:
//
//   <a data-key="f" data-key-label="Fork from here" data-key-scope="Acting" href="…">
import { announce } from "./live.js";

const EVERYWHERE = "Everywhere";
const SECOND_KEY_WITHIN = 4000; // ms

const table = [];
let first = null; // the first key of a pair, while the second is awaited
let firstTimer = 0;

/**
 * Let `key` (as `KeyboardEvent.key` names it; two with a space between for a pair) call `handler(event)`.
 * `label` says what it does; `scope` is its heading in the sheet; `when`, if given, must return true.
 * Answers a function that takes the key back.
 */
export function register(key, label, handler, { scope = EVERYWHERE, when = null } = {}) {
  const row = { key, label, handler, scope, when };
  table.push(row);
  return () => { table.splice(table.indexOf(row), 1); };
}

const usable = (element) => !element.closest('[hidden], [inert], :disabled, [aria-disabled="true"]') && element.getClientRects().length > 0;

function words(element) {
  const copy = element.cloneNode(true);
  for (const hint of copy.querySelectorAll("kbd")) hint.remove();
  return copy.textContent.trim().replace(/\s+/g, " ");
}

function markedRows() {
  return [...document.querySelectorAll("[data-key]")].filter(usable).map((element) => ({
    element,
    key: element.dataset.key,
    label: element.dataset.keyLabel || words(element),
    scope: element.dataset.keyScope || EVERYWHERE,
    handler: () => {
      if (element.matches("input, textarea, select")) { element.focus(); element.select?.(); } else element.click();
    },
  }));
}

const rows = () => [...table.filter((row) => !row.when || row.when()), ...markedRows()];

// Fields that take letters keep them. A slider, a box or a button has no use for them.
const TYPED = 'input:not([type="range"], [type="checkbox"], [type="radio"], [type="button"], [type="submit"], [type="reset"]), textarea, select, [contenteditable]:not([contenteditable="false"])';

function ignored(event) {
  return event.defaultPrevented || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey
    || event.target.closest?.(TYPED) || document.querySelector("dialog[open]");
}

/** Show at the control of each pair which key it waits for now; `forget` takes that back. */
function awaitSecond(pairs) {
  for (const { key, element } of pairs) {
    const hint = element?.querySelector("kbd");
    if (!hint) continue;
    element.classList.add("awaits-key");
    hint.textContent = key.split(" ")[1];
  }
}

function forget() {
  for (const control of document.querySelectorAll(".awaits-key")) {
    control.classList.remove("awaits-key");
    control.querySelector("kbd").textContent = first;
  }
  first = null;
  clearTimeout(firstTimer);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Shift") return;
  if (ignored(event)) { forget(); return; }
  const all = rows();
  const wanted = first ? `${first} ${event.key}` : event.key;
  const row = all.find(({ key }) => key === wanted);
  const was = first;
  forget();
  if (row) {
    event.preventDefault();
    row.handler(event);
    return;
  }
  if (was) return;
  const pairs = all.filter(({ key }) => key.startsWith(`${event.key} `));
  if (!pairs.length || event.repeat) return;
  event.preventDefault();
  first = event.key;
  firstTimer = setTimeout(forget, SECOND_KEY_WITHIN);
  awaitSecond(pairs);
  announce(pairs.map(({ key, label }) => `${key.split(" ")[1]}: ${label}`).join(", "));
});

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space", Escape: "Esc" };

function element(tag, text = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

/** Show the sheet of the keys that work on this page. */
function showSheet() {
  const list = document.getElementById("keys-list");
  const scopes = new Map();
  for (const row of rows()) scopes.set(row.scope, [...(scopes.get(row.scope) ?? []), row]);
  list.replaceChildren(...[...scopes].map(([scope, members]) => {
    const section = document.createElement("section");
    const lines = document.createElement("dl");
    for (const { key, label } of members) {
      const term = document.createElement("dt");
      for (const part of key === " " ? [" "] : key.split(" ")) term.append(element("kbd", NAMES[part] ?? part), " ");
      lines.append(term, element("dd", label));
    }
    section.append(element("h3", scope), lines);
    return section;
  }));
  document.getElementById("keys-sheet").showModal();
}

register("?", "This sheet", showSheet);

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-open-keys]")) showSheet();
  // A click on the veil is a click on the dialog itself.
  else if (event.target instanceof HTMLDialogElement) event.target.close();
});
