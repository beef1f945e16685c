// What every page shares. Each module listens on the document, so what htmx brings in later works too.
import "./preferences.js";
import "./menus.js";
import "./forms.js";
import "./copy.js";
import "./htmx-setup.js";
import "./keys.js";

document.documentElement.classList.add("js");
