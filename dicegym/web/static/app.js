// Scripts of every page: the light/dark switch, and buttons that show when a request waits or fails.
"use strict";
(() => {
  const root = document.documentElement;
  const stored = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const store = (name, value) => { try { localStorage.setItem(name, value); } catch { /* forbidden */ } };
  if (stored("theme")) root.dataset.theme = stored("theme"); // before anything is drawn

  // --- trouble: a line above the page that says what to do
  let again = null;
  function trouble(words, retry) {
    const line = document.getElementById("trouble");
    again = retry || null;
    line.textContent = words;
    if (!words || !retry) return;
    const button = document.createElement("button");
    button.id = "retry";
    button.textContent = "Try again";
    line.append(" ", button);
  }
  function idle() {
    for (const one of document.querySelectorAll("[aria-busy=true]")) one.removeAttribute("aria-busy");
  }
  function retry_of(source) {
    const form = source && source.closest("form");
    if (!form) return () => location.reload();
    const button = form.querySelector("[data-pressed]");
    return () => form.requestSubmit(button || undefined);
  }
  function explained(text) {
    const found = new DOMParser().parseFromString(text || "", "text/html").querySelector("[role=alert]");
    return found ? found.textContent.trim() : "The server could not do that.";
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest("#theme")) {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      store("theme", root.dataset.theme);
    }
    if (event.target.closest("#retry")) {
      const retry = again;
      trouble("");
      if (retry) retry();
    }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target, button = event.submitter;
    if (form.getAttribute("aria-busy") === "true") { // pressed twice
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    if (!navigator.onLine) {
      event.preventDefault();
      event.stopImmediatePropagation();
      trouble("You are offline: nothing was sent.", () => form.requestSubmit(button || undefined));
      return;
    }
    for (const one of form.querySelectorAll("[data-pressed]")) delete one.dataset.pressed;
    form.setAttribute("aria-busy", "true");
    if (button) {
      button.setAttribute("aria-busy", "true");
      button.dataset.pressed = "";
    }
    if (form.method === "get") setTimeout(idle, 1000); // a download leaves the page as it is
  }, true);
  document.addEventListener("change", (event) => { // checked here, so that the form keeps its other fields
    const largest = Number(event.target.dataset.largest || 0), [file] = event.target.files || [];
    if (!largest) return;
    const over = file && file.size > largest * 2 ** 20;
    event.target.setCustomValidity(over ? `${file.name} is larger than ${largest} MiB: choose a smaller file.` : "");
    event.target.reportValidity();
  });
  let live = ""; // a polled part is replaced only if it has changed
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!event.detail.target || event.detail.target.id !== "live") return;
    const part = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html").getElementById("live");
    const text = part ? part.outerHTML : "";
    if (text === live) event.detail.shouldSwap = false;
    live = text;
  });
  document.addEventListener("htmx:afterRequest", idle);
  document.addEventListener("htmx:afterOnLoad", () => { if (!again || navigator.onLine) trouble(""); });
  document.addEventListener("htmx:responseError", (event) => trouble(explained(event.detail.xhr.responseText), retry_of(event.detail.elt)));
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) =>
      trouble(navigator.onLine ? "The server does not answer." : "You are offline.", retry_of(event.detail.elt)));
  }
  addEventListener("offline", () => trouble("You are offline. The page continues when the connection is back."));
  addEventListener("online", () => (document.querySelector("#game, #live, #review") ? location.reload() : trouble("")));

  // Back and Forward show the current state, not the old page.
  addEventListener("pageshow", (event) => {
    idle();
    const waiting = document.getElementById("waiting"); // a form that is sent again until the game is ready
    if (waiting) setTimeout(() => waiting.requestSubmit(), Number(waiting.dataset.again));
    const [navigation] = performance.getEntriesByType("navigation");
    const old = event.persisted || (navigation && navigation.type === "back_forward");
    if (old && document.getElementById("game")) {
      htmx.ajax("GET", location.href, { target: "#game", select: "#game", swap: "outerHTML" });
    }
  });
})();
