// The incident page while it is open: what is new, clocks that run, and Enter for the next action.
// Nothing that is read moves; a person reloads when they want to.
import { register } from "./keys.js";
import { announce } from "./live.js";

const POLL_EVERY = 3000;

// Enter presses the next action, unless something else has the focus and takes it.
const next = () => document.querySelector("[data-next]");
const nothingFocused = () => !document.activeElement || document.activeElement.matches("body, main, dialog");
register("Enter", "Do what comes next", () => next().click(), { scope: "Acting", when: () => next() !== null && nothingFocused() });

// What is done on this page itself is found with the focus on it, for those who came by the keyboard.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-next][href*='#']");
  if (!link || event.detail !== 0 || link.pathname !== location.pathname) return;
  const place = document.getElementById(link.hash.slice(1));
  const shown = (what) => [...place.querySelectorAll(what)].find((each) => each.getClientRects().length > 0);
  const first = shown('li :is(input:not([type="hidden"]), .btn)') ?? shown(".row .btn");
  if (!first) return;
  event.preventDefault();
  history.replaceState(null, "", link.hash);
  place.scrollIntoView();
  first.focus({ preventScroll: true });
});

// Clocks -----------------------------------------------------------------------------------------------

/** As the server says it: `7 s`, `4 min 12 s`, `34 min`, `3 h 20 min`, `2 d 4 h`. */
function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (large, name, small, smallName) => {
    const rest = Math.floor((whole % large) / small);
    return `${Math.floor(whole / large)} ${name}${rest ? ` ${rest} ${smallName}` : ""}`;
  };
  if (whole < 60) return `${whole} s`;
  if (whole < 600) return two(60, "min", 1, "s");
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 172800) return two(3600, "h", 60, "min");
  return two(86400, "d", 3600, "h");
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  const now = Date.now();
  for (const clock of document.querySelectorAll("[data-since]")) {
    say(clock, span((now - Date.parse(clock.dataset.since)) / 1000));
  }
  for (const clock of document.querySelectorAll("[data-until]")) {
    const left = (Date.parse(clock.dataset.until) - now) / 1000;
    say(clock, left >= 0 ? `${span(left)} left` : `${span(-left)} over`);
    clock.classList.toggle("bad", left < 0);
  }
}

tick();
setInterval(tick, 1000);

// Live -------------------------------------------------------------------------------------------------

const incident = document.getElementById("incident");
let failures = 0;

async function poll() {
  const { live, after, waiting, status } = incident.dataset;
  const answer = await fetch(`${live}?${new URLSearchParams({ after, waiting, status })}`, { headers: { "HX-Request": "true" } });
  if (answer.redirected || !answer.ok) throw new Error("no news");
  if (answer.status === 204) return;
  const news = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("news");
  for (const part of ["newer", "freezing"]) {
    const shown = document.getElementById(part);
    const fresh = news.querySelector(`[data-part="${part}"]`);
    if (shown.innerHTML.trim() === fresh.innerHTML.trim()) continue;
    shown.innerHTML = fresh.innerHTML;
    if (part === "newer" && fresh.textContent.trim()) announce(fresh.textContent.trim());
  }
  incident.dataset.waiting = news.dataset.waiting;
}

async function keepLooking() {
  if (!document.hidden) {
    try { await poll(); failures = 0; } catch { failures += 1; }
  }
  setTimeout(keepLooking, POLL_EVERY * (failures > 3 ? 5 : 1));
}

if (incident) setTimeout(keepLooking, POLL_EVERY);
