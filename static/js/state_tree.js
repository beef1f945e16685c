// The state as a tree: from change to change, along its lines, and copying what stands there.
import { register } from "./keys.js";
import { announce, flash } from "./live.js";
import { copyText } from "./copy.js";

const tree = () => document.getElementById("tree");
const lines = () => [...(tree()?.querySelectorAll(".tree-line") ?? [])];
const here = { scope: "State", when: () => tree() !== null };

// From change to change --------------------------------------------------------------------------------

let hunk = -1;

function goToHunk(by) {
  const starts = lines().filter((line) => "hunkStart" in line.dataset);
  if (!starts.length) { announce("This version changed nothing here"); return; }
  hunk = hunk < 0 ? (by > 0 ? 0 : starts.length - 1) : (hunk + by + starts.length) % starts.length;
  stand(starts[hunk]);
  const words = `${hunk + 1} of ${starts.length}`;
  const where = document.getElementById("hunk-where");
  if (where) where.textContent = words;
  announce(`Change ${words}`);
}

document.addEventListener("machine:shown", () => { hunk = -1; });
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-hunk]");
  if (button) goToHunk(Number(button.dataset.hunk));
});
register("n", "Next change", () => goToHunk(1), here);
register("p", "Previous change", () => goToHunk(-1), here);

// Along the lines --------------------------------------------------------------------------------------

function stand(line) {
  for (const other of tree().querySelectorAll(".at")) other.classList.remove("at");
  line.classList.add("at");
  line.scrollIntoView({ block: "nearest" });
  offer(line);
}

function alongLines(event) {
  const all = lines();
  const at = all.findIndex((line) => line.classList.contains("at"));
  const line = all[at];
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const next = all[at < 0 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) { stand(next); announce(next.innerText.replace(/\s+/g, " ").slice(0, 200)); }
  } else if (line && ["ArrowRight", "Enter"].includes(event.key)) {
    (line.querySelector("a.fold") ?? (event.key === "Enter" ? line.querySelector("a") : null))?.click();
  } else if (line && event.key === "ArrowLeft") {
    line.querySelector("a.bracket")?.click();
  } else return;
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if (event.target.id === "tree" && !event.ctrlKey && !event.metaKey && !event.altKey) alongLines(event);
});

/** With arrows at hand, hundreds of keys need not be stations of the Tab key. */
function quieten() {
  for (const link of tree()?.querySelectorAll("a.json-key, a.json-index, a.bracket") ?? []) link.tabIndex = -1;
}
document.addEventListener("machine:shown", quieten);
quieten();

// What a line offers -----------------------------------------------------------------------------------

const TOOLS = [["value", "Value"], ["dots", "Path"], ["pointer", "Pointer"]];

/** The words of `pointer_dots` in statebase_site/web/wording.py. */
function dots(pointer) {
  if (!pointer) return "@";
  let path = "";
  for (const part of pointer.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (/^[0-9]+$/.test(key)) path += `[${key}]`;
    else {
      const name = /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? key : `"${key.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
      path += path ? `.${name}` : name;
    }
  }
  return path;
}

let tools = null;

function offer(line) {
  if (!line || !("path" in line.dataset) || line.contains(tools)) return;
  if (!tools) {
    tools = document.createElement("span");
    tools.className = "row-acts";
    for (const [what, label] of TOOLS) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn slim";
      button.tabIndex = -1;
      button.dataset.take = what;
      button.title = `Copy ${label.toLowerCase()}`;
      button.textContent = label;
      tools.append(button);
    }
  }
  line.lastElementChild.prepend(tools);
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "mouse") offer(event.target.closest?.("#machine .tree-line"));
});

async function copyFrom(url) {
  const answer = await fetch(url);
  if (!answer.ok) { flash("error", "The value could not be read. Try again, or open it as JSON."); return; }
  say(await copyText(await answer.text()));
}

function say(done) {
  announce(done ? "Copied" : "The browser did not allow copying; select the text instead");
}

function valueUrl(line) {
  const { base, number } = document.getElementById("machine").dataset;
  const version = line.classList.contains("removed") ? Number(number) - 1 : number;
  return `${base}v/${version}/state.json?path=${encodeURIComponent(line.dataset.path)}`;
}

document.addEventListener("click", async (event) => {
  const whole = event.target.closest?.("[data-copy-url]");
  if (whole) { await copyFrom(whole.dataset.copyUrl); return; }
  const button = event.target.closest?.("[data-take]");
  if (!button) return;
  const line = button.closest(".tree-line");
  if (button.dataset.take === "value") await copyFrom(valueUrl(line));
  else say(await copyText(button.dataset.take === "dots" ? dots(line.dataset.path) : line.dataset.path));
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = TOOLS.find(([what]) => what === button.dataset.take)[1]; }, 1200);
});

const standing = () => tree()?.querySelector(".tree-line.at[data-path]");
const withLine = { scope: "State", when: () => Boolean(standing()) };
register("y", "Copy the value of the line", () => copyFrom(valueUrl(standing())), withLine);
register("Y", "Copy the path of the line", async () => say(await copyText(dots(standing().dataset.path))), withLine);
register("w", "Watch only this path", () => standing().querySelector("a.json-key, a.json-index")?.click(), withLine);
