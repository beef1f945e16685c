// Buttons that copy: data-copy="text", or data-copy-from="id of the element whose text is meant".
import { announce } from "./live.js";

/** Put `text` on the clipboard; false when the browser does not allow it. */
export async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* not allowed here: the old way below may be */ }
  }
  // Plain http on another host than localhost has no clipboard: copy out of a field.
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus?.();
  return done;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy], [data-copy-from]");
  if (!button) return;
  const source = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
  const text = source ? source.value ?? source.textContent : button.dataset.copy;
  if (await copyText(text)) {
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1600);
    announce("Copied");
  } else {
    announce("The browser did not allow copying; select the text instead");
  }
});
