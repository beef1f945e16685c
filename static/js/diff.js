// A comparison: from change to change, and copying what stands there.
import { register } from "./keys.js";
import { announce, flash } from "./live.js";
import { copyText } from "./copy.js";

const scope = "Comparison";
const changes = () => [...document.querySelectorAll("#lines [data-change]")];
const standing = () => document.querySelector("#lines .at[data-change], #lines .here[data-change]");

// From change to change --------------------------------------------------------------------------------

function stand(line) {
  standing()?.classList.remove("at", "here");
  line.classList.add(line.tagName === "SPAN" ? "here" : "at");
  line.scrollIntoView({ block: "nearest" });
  offer(line);
  const all = changes();
  const words = `${all.indexOf(line) + 1} of ${all.length}`;
  const where = document.getElementById("hunk-where");
  if (where) where.textContent = words;
  return words;
}

function step(by) {
  const all = changes();
  if (!all.length) { announce("There is no change here"); return; }
  const at = all.indexOf(standing());
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
  const words = stand(all[next]);
  announce(`Change ${words}: ${all[next].innerText.replace(/\s+/g, " ").trim().slice(0, 200)}`);
}

const here = { scope, when: () => changes().length > 0 };
register("n", "Next change", () => step(1), here);
register("p", "Previous change", () => step(-1), here);

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-step]");
  if (button) { step(Number(button.dataset.step)); return; }
  const line = event.target.closest?.("#lines [data-change]");
  if (line && !event.target.closest("a, button") && getSelection().isCollapsed) stand(line);
});

// What a change offers ---------------------------------------------------------------------------------

let tools = null;

/** Buttons that copy path, old and new value, in the line of the change under the pointer or the cursor. */
function offer(line) {
  if (!("old" in line.dataset || "new" in line.dataset) || line.contains(tools)) return;
  tools ??= Object.assign(document.createElement("span"), { className: "row-acts" });
  tools.replaceChildren(...["path", "old", "new"].filter((what) => what === "path" || what in line.dataset).map((what) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn slim";
    button.dataset.take = what;
    button.title = `Copy the ${what === "path" ? "path" : `${what} value`}`;
    button.textContent = what === "path" ? "Path" : `${what === "old" ? "Old" : "New"}`;
    return button;
  }));
  (line.querySelector(":scope > .in") ?? line.lastElementChild.querySelector(".in") ?? line.querySelector(".in")).prepend(tools);
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  const line = event.target.closest?.("#lines [data-change]");
  if (line) offer(line);
});

async function copyFrom(url) {
  const answer = await fetch(url);
  if (!answer.ok) { flash("error", "It could not be read. Try again, or open it as JSON."); return false; }
  return copyText(await answer.text());
}

function take(line, what) {
  if (what === "path") return copyText(line.dataset.new ?? line.dataset.old);
  const { oldUrl, newUrl } = document.getElementById("diff").dataset;
  return copyFrom(`${what === "old" ? oldUrl : newUrl}?path=${encodeURIComponent(line.dataset[what])}`);
}

async function say(copying, button) {
  const done = await copying;
  announce(done ? "Copied" : "The browser did not allow copying; select the text instead");
  if (!done || !button) return;
  const words = button.innerHTML;
  button.textContent = "Copied";
  setTimeout(() => { button.innerHTML = words; }, 1200);
}

document.addEventListener("click", (event) => {
  const whole = event.target.closest?.("[data-copy-url]");
  if (whole) { say(copyFrom(whole.dataset.copyUrl), whole); return; }
  const button = event.target.closest?.("[data-take]");
  if (button) say(take(button.closest("[data-change]"), button.dataset.take), button);
});

for (const [key, what] of [["y", "new"], ["o", "old"], ["Y", "path"]]) {
  register(key, `Copy the ${what === "path" ? "path" : `${what} value`} of the change`, () => say(take(standing(), what)), {
    scope, when: () => what === "path" ? Boolean(standing()?.matches("[data-old], [data-new]")) : what in (standing()?.dataset ?? {}),
  });
}

// A part that was opened or folded comes with a new section: the keyboard stays in it.
document.addEventListener("htmx:afterSwap", (event) => {
  if (document.activeElement === document.body && event.detail.target.id === "diff") document.querySelector('#diff [role="region"]')?.focus({ preventScroll: true });
});
