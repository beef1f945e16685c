// The page of one act: what is to be filled in has the focus, so that it can be typed at once.
const fields = (within) => [...document.querySelectorAll(`${within} :is(input:not([type="hidden"]), textarea, select)`)]
  .filter((field) => !field.disabled && field.getClientRects().length > 0 && !field.closest(".picker"));

// Not by touch, where the keyboard would come up over the page; nor where the keys of a picker go on (`d` is no text).
if (matchMedia("(hover: hover)").matches) {
  const picks = document.querySelector(".picker") !== null;
  const free = (field) => !picks || field.matches('[type="radio"], [type="checkbox"]');
  const first = fields("main .wrong")[0] ?? fields("main .form").find(free);
  const chosen = first?.type === "radio" && first.form.querySelector(`input[name="${first.name}"]:checked`);
  (chosen || first)?.focus();
}
