// Choosing among a session's versions by keyboard; what is chosen shows on the rail, and as a difference.
// Without this it is a list of boxes in a form.
import { register } from "./keys.js";
import { announce } from "./live.js";
import "./diff.js";

const scope = "Versions";
const form = document.getElementById("choosing");
const rows = () => [...form.querySelectorAll(".pick-row")];
const standing = () => document.activeElement?.closest(".pick-row") ?? form.querySelector(".pick-row.at");
const chosen = (name) => form.querySelector(`input[name="${name}"]:checked`);
const number = (name) => { const box = chosen(name); return box ? Number(box.value) : null; };

function stand(row) {
  standing()?.classList.remove("at");
  for (const other of form.querySelectorAll(".pick-row.at")) other.classList.remove("at");
  row.classList.add("at");
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
  form.querySelector(`#mark-${row.dataset.v}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** The next older version is below: `j` goes on in time, as in the time machine, to the newer one above. */
function step(by) {
  const all = rows();
  const at = all.indexOf(standing());
  const next = all[at < 0 ? 0 : at - by];
  if (next) { stand(next); return; }
  const beyond = form.querySelector(`button[data-beyond="${by > 0 ? "newer" : "older"}"]`);
  if (beyond) beyond.click();
  else announce(by > 0 ? "This is the newest version" : "This is the first version");
}

register("j", "Next version", () => step(1), { scope });
register("k", "Previous version", () => step(-1), { scope });
register("o", "Open the version in the time machine", () => standing().querySelector(".n").click(), { scope, when: () => standing() !== null });

// On a version Enter sends what is marked; a link or a button that has the focus takes it for itself.
const onVersion = () => !document.activeElement || document.activeElement.matches("body, main, .pick-row");
const mayAct = () => form.querySelector('input[data-pick]:checked') && !form.querySelector('.form-acts > [aria-disabled="true"]');
register("Enter", "Send what is marked", () => form.requestSubmit(), { scope, when: () => onVersion() && mayAct() });

function choose(key) {
  const row = standing() ?? rows()[0];
  const box = row?.querySelector(`input[data-pick="${key}"]`);
  if (!box) return;
  box.click();
  stand(row);
  announce(`Version ${row.dataset.v}: ${box.closest("label").textContent.trim()}${box.checked ? "" : ", taken back"}`);
}

const keys = new Map([...form.querySelectorAll("input[data-pick]")].map((box) => [box.dataset.pick, box]));
for (const [key, box] of keys) {
  register(key, `Mark the version as “${box.closest("label").lastElementChild.lastChild.textContent.trim()}”`, () => choose(key), { scope });
}

// The last good version is the one before the divergence until another is marked.
function fillIn(box) {
  const name = box.dataset.below;
  const below = number(name);
  if (!name || (below !== null && below < Number(box.value))) return;
  const before = form.querySelector(`input[name="${name}"][value="${Number(box.value) - 1}"]`);
  if (before) before.checked = true;
  else if (chosen(name)) chosen(name).checked = false;
}

function showOnRail() {
  for (const mark of form.querySelectorAll(".pick-rail .mark")) {
    for (const name of [...mark.classList]) if (name.startsWith("is-")) mark.classList.remove(name);
  }
  for (const box of form.querySelectorAll(".pick-row input:checked")) {
    form.querySelector(`#mark-${box.value}`)?.classList.add(`is-${box.name}`);
  }
}

function showBetween() {
  const place = document.getElementById("between");
  const right = number("divergence_version");
  if (!place || right === null) return;
  const left = number("last_good_version") ?? right - 1;
  document.getElementById("chosen").value = `Last good v${left}, divergence v${right}`;
  if (left < 0 || left >= right) { place.replaceChildren(); return; }
  const url = `${place.dataset.url}?left=${left}&right=${right}`;
  window.htmx?.ajax("GET", url, { target: "#between", select: "#diff", swap: "innerHTML" });
}

form.addEventListener("change", (event) => {
  if (!event.target.matches("input[data-pick]")) return;
  if (event.target.dataset.below) fillIn(event.target);
  showOnRail();
  showBetween();
});

form.addEventListener("click", (event) => {
  const mark = event.target.closest(".pick-rail a");
  if (!mark) return;
  event.preventDefault();
  const row = form.querySelector(mark.getAttribute("href"));
  if (row) stand(row);
});

const at = form.querySelector(".pick-row.at");
if (at) {
  const list = document.getElementById("pick-list");
  list.scrollTop = at.offsetTop - list.clientHeight / 2;
  const rail = form.querySelector(".pick-rail");
  const x = Number(form.querySelector(`#mark-${at.dataset.v} .shape`)?.getAttribute("cx") ?? 0);
  rail.scrollLeft = x - rail.clientWidth / 2;
}
