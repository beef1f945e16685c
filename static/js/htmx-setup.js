// htmx: the CSRF token on what writes, and plain words when an answer did not come or was refused.
import { flash } from "./live.js";

document.addEventListener("htmx:configRequest", (event) => {
  const token = document.querySelector('meta[name="csrf-token"]')?.content;
  if (token && event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = token;
});

// A sign-in that ended answers with the sign-in page: it must not land inside another page.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  const signIn = document.body.dataset.signIn;
  if (!signIn || !xhr.responseURL) return;
  if (new URL(xhr.responseURL).pathname !== signIn || requestConfig.path.startsWith(signIn)) return;
  event.detail.shouldSwap = false;
  flash("warning", "Your sign-in has ended, so nothing was changed. Sign in again in another tab, then repeat; what you typed here stays.");
});

const REASONS = {
  403: "That is not allowed for you, so nothing was changed. Reload the page to see what you may do.",
  404: "That is no longer there. Reload the page to see what is.",
  413: "That is too large to send, so nothing was changed. Shorten it and send it again.",
  429: "Too many requests in a short time. Wait a minute, then repeat.",
};

document.addEventListener("htmx:responseError", (event) => {
  const status = event.detail.xhr.status;
  flash("error", REASONS[status] ?? `The server answered ${status}. Try once more; a form sent twice acts once.`);
});

for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    // A poll that fails says nothing: the next one will tell.
    if (event.target.matches?.("[data-quiet]")) return;
    flash("error", "The server could not be reached. Check the connection, then repeat; a form sent twice acts once.");
  });
}
