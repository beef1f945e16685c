// Say something without moving the page: to screen readers, or as a line on top.

/** Say `text` to screen readers. */
export function announce(text) {
  const region = document.getElementById("live");
  if (!region) return;
  region.textContent = "";
  // A region that gets the same text twice is silent unless it was empty in between.
  requestAnimationFrame(() => { region.textContent = text; });
}

/** Show `text` as a line on top of the page. `level` is success, info, warning or error. */
export function flash(level, text) {
  const line = document.createElement("div");
  line.className = `flash ${level}`;
  line.setAttribute("role", level === "error" ? "alert" : "status");
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn quiet slim";
  close.dataset.dismiss = "";
  close.textContent = "Dismiss";
  line.append(words, close);
  const lines = document.getElementById("flashes");
  // The same trouble again replaces its line instead of piling up.
  for (const other of lines.querySelectorAll(".flash > p")) if (other.textContent === text) other.parentElement.remove();
  lines.append(line);
  line.scrollIntoView({ block: "nearest" });
}
