// A form that was sent is not sent again by a second click, and is free again after Back.
// The server refuses doubles by their idempotency key; this spares people the refusal.

const RELEASE_AFTER = 10000; // ms; a download or a lost connection leaves the page where it is

const isHtmx = (form) => form.matches("[hx-post], [hx-put], [hx-patch], [hx-delete], [data-hx-post]");
const acts = (form) => form.method === "post" && form.target !== "_blank";

function hold(form, submitter) {
  form.dataset.sent = "";
  submitter?.setAttribute("aria-busy", "true");
  form.releaseTimer = setTimeout(() => release(form), RELEASE_AFTER);
}

function release(form) {
  clearTimeout(form.releaseTimer);
  delete form.dataset.sent;
  for (const button of form.querySelectorAll('[aria-busy="true"]')) button.removeAttribute("aria-busy");
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!("sent" in form.dataset)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (acts(form) && !isHtmx(form) && !event.defaultPrevented) hold(form, event.submitter);
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const form = event.target;
  if (form instanceof HTMLFormElement && isHtmx(form)) hold(form, event.detail.requestConfig?.triggeringEvent?.submitter);
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.target instanceof HTMLFormElement) release(event.target);
});

window.addEventListener("pageshow", (event) => {
  if (event.persisted) for (const form of document.querySelectorAll("form[data-sent]")) release(form);
});

// A control that is shown but not allowed says why instead of acting.
document.addEventListener("click", (event) => {
  if (event.target.closest?.('[aria-disabled="true"]')) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, { capture: true });

// Choices in a filter bar act at once; its button stays for those without JavaScript.
document.addEventListener("change", (event) => {
  const form = event.target.closest?.("form[data-submit-on-change]");
  if (form && event.target.matches("select, [type=checkbox], [type=radio]")) form.requestSubmit();
});

// Ctrl or Cmd with Enter sends the form that is filled in, from a text of many lines as well; a button does what it says.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented || event.isComposing) return;
  if (event.target.closest?.("button") || document.querySelector("dialog[open]")) return;
  const form = event.target.closest?.("form") ?? document.querySelector("form[data-act]");
  if (!form || !acts(form) || form.querySelector('.form-acts > button[aria-disabled="true"]')) return;
  event.preventDefault();
  form.requestSubmit();
});
