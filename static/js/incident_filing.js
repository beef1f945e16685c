// Filing by keyboard: 1 to 4 choose the severity, 0 triage, Ctrl or Cmd with Enter files.
// The page says how many sessions an S1 freezes while they are being chosen. Without this it is a plain form.
import { register } from "./keys.js";
import { announce } from "./live.js";

const form = document.querySelector("form[data-filing]");
const title = form?.querySelector('[name="title"]');

function countSessions() {
  const ticked = [...form.querySelectorAll('[type="checkbox"][name="sessions"]:checked')].map((box) => box.value);
  const typed = form.querySelector('textarea[name="sessions"]').value.split(/[\s,;]+/).filter(Boolean);
  const count = new Set([...ticked, ...typed]).size;
  form.querySelector("[data-frozen-count]").textContent = count === 1 ? "1 session" : `${count} sessions`;
}

if (form) {
  for (const radio of form.querySelectorAll("[data-choice-key]")) {
    register(radio.dataset.choiceKey, `Severity: ${radio.value === "triage" ? "not sure, triage" : radio.value}`, () => {
      radio.checked = true;
      radio.focus();
      announce(radio.labels[0].querySelector("b").textContent);
    }, { scope: "Filing" });
  }
  // In the title as well, where plain keys are letters.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  register("t", "Title", () => title.focus(), { scope: "Filing" });
  form.addEventListener("input", countSessions);
  countSessions();
  const wrong = form.querySelector(".wrong input:not(:disabled), .wrong textarea");
  // The browser focuses the title by itself, but perhaps only after this has run.
  if (wrong) wrong.focus();
  else if ([document.body, title].includes(document.activeElement)) {
    title.focus();
    title.select();
  }
}
