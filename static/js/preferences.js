// How this browser shows times and colours: cookies that the server reads, so pages arrive right.
// Without JavaScript the same form posts to the server.

function cookie(name) {
  const found = document.cookie.split("; ").find((pair) => pair.startsWith(`${name}=`));
  return found ? found.slice(name.length + 1) : "";
}

function remember(name, value) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
if (cookie("tz") !== zone) remember("tz", zone);

function showTheme() {
  const theme = cookie("theme") || "auto";
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of document.querySelectorAll('[data-preferences] [name="theme"]')) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!event.target.matches("[data-preferences]") || button?.name !== "theme") return;
  event.preventDefault();
  remember("theme", button.value);
  showTheme();
});

// Back brings a page as it was left; the theme may have changed since.
window.addEventListener("pageshow", showTheme);

for (const place of document.querySelectorAll("[data-zone]")) place.textContent = zone;

const STEPS = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [30 * 86400, 86400, "d"]];

/** The words of `relative` in statebase_site/web/times.py, kept true while the page stays open. */
function relative(moment) {
  const seconds = (Date.now() - moment) / 1000;
  const away = Math.abs(seconds);
  if (away < 5) return "just now";
  const step = STEPS.find(([limit]) => away < limit);
  if (!step) return null;
  const words = `${Math.floor(away / step[1])} ${step[2]}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

setInterval(() => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const words = relative(Date.parse(time.dateTime));
    if (words && words !== time.textContent) time.textContent = words;
  }
}, 15000);
