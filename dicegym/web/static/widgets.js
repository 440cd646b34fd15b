// What widgets.html does where scripts run: buttons for one more and one less, sums of a basket, single keys, and the
// focus, which stays among the forms when they change. Everything is listened for at the document, as forms come and go.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const number = (text) => (/^\d+$/.test(text.trim()) ? Number(text) : 0);

  // --- one more, one less
  function step(input, by) {
    const low = Number(input.min), high = Number(input.max);
    const now = input.value === "" ? low : Number(input.value);
    input.value = String(Math.min(high, Math.max(low, now + by)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // --- a number that has to be larger with some choices
  function raise(form) {
    const chosen = form.querySelector("input[data-least]:checked");
    const input = form.querySelector("input[data-low]");
    if (!input) return;
    input.min = String(Math.max(Number(input.dataset.low), chosen ? Number(chosen.dataset.least) : 0));
    if (Number(input.value) < Number(input.min)) input.value = input.min;
  }

  // --- baskets
  function add_up(basket) {
    const budget = Number(basket.dataset.budget), unit = basket.dataset.unit;
    const inputs = all("input[data-price]", basket);
    const price = inputs.reduce((sum, one) => sum + number(one.value) * Number(one.dataset.price), 0);
    const many = inputs.reduce((sum, one) => sum + number(one.value), 0);
    const left = budget - price;
    for (const one of inputs) {
      const taken = number(one.value) > 0;
      one.closest("li").classList.toggle("taken", taken);
      one.setCustomValidity(left < 0 && taken ? `Together they cost ${-left} ${unit} more than you have.` : "");
      const more = one.parentElement.querySelector('[data-step="1"]');
      more.setAttribute("aria-disabled", String(Number(one.dataset.price) > left || number(one.value) >= Number(one.max)));
    }
    const sum = basket.querySelector("output");
    const said = !many ? `You have ${budget.toLocaleString("en")} ${unit} to spend.`
      : left < 0 ? `Together ${price.toLocaleString("en")} ${unit}: ${(-left).toLocaleString("en")} more than you have.`
      : `Together ${price.toLocaleString("en")} ${unit}, ${left.toLocaleString("en")} left.`;
    if (sum.textContent !== said) sum.textContent = said;
    sum.parentElement.classList.toggle("over", left < 0);
  }
  const memory = (form) => `last ${location.pathname} ${form.dataset.form}`;
  function remembered(form) {
    try { return JSON.parse(sessionStorage.getItem(memory(form)) || "null"); } catch { return null; }
  }
  function remember(form) {
    const filled = all("input[data-price]", form).filter((one) => number(one.value) > 0).map((one) => [one.name, one.value]);
    try { if (filled.length) sessionStorage.setItem(memory(form), JSON.stringify(filled)); } catch { /* full, or forbidden */ }
  }
  function fill_again(form) {
    const wanted = new Map(remembered(form) || []);
    let left = Number(form.querySelector(".basket").dataset.budget);
    for (const one of all("input[data-price]", form)) {
      const price = Number(one.dataset.price);
      const many = Math.min(number(wanted.get(one.name) || "0"), Number(one.max), price ? Math.floor(left / price) : Infinity);
      one.value = String(many);
      left -= many * price;
    }
    all(".basket", form).forEach(add_up);
  }

  // --- dice
  function count_dice(row) {
    if (row.dataset.most === undefined) return;
    const boxes = all("input", row), picked = boxes.filter((one) => one.checked).length, most = Number(row.dataset.most);
    boxes[0].setCustomValidity(picked > most ? `Pick ${most} at most.` : "");
  }

  // Dice that were kept are picked again after the roll, as they mostly stay.
  let kept = null;
  function keep(form) {
    const boxes = all("[data-die]", form).filter((one) => one.checked);
    kept = boxes.length ? new Map(boxes.map((one) => [one.id, one.getAttribute("aria-label")])) : null;
  }
  function pick_kept() {
    const boxes = all(".play-form [data-die]");
    if (!kept || !document.querySelector(".play-form")) return; // the others are still at it
    const same = boxes.filter((one) => kept.get(one.id) === one.getAttribute("aria-label"));
    if (same.length === kept.size) for (const one of same) one.checked = true;
    kept = null;
  }

  // --- what is new on the page
  function dress() {
    pick_kept();
    all(".play-form").forEach(raise);
    all(".play-form .basket").forEach(add_up);
    all(".play-form .dice-toggles").forEach(count_dice);
    for (const button of all("[data-again]")) button.hidden = !remembered(button.form);
    const on = document.getElementById("play-keys-on");
    if (on) on.checked = keys_work();
  }

  document.addEventListener("click", (event) => {
    const stepper = event.target.closest("[data-step]");
    if (stepper && stepper.getAttribute("aria-disabled") !== "true") {
      step(document.getElementById(stepper.dataset.for), Number(stepper.dataset.step));
    }
    const again = event.target.closest("[data-again]");
    if (again) fill_again(again.form);
  });
  document.addEventListener("input", (event) => {
    const form = event.target.closest(".play-form");
    if (form) {
      all(".basket", form).forEach(add_up);
      all(".dice-toggles", form).forEach(count_dice);
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "play-keys-on") {
      try { localStorage.setItem("keys", event.target.checked ? "on" : "off"); } catch { /* forbidden */ }
      return;
    }
    const form = event.target.closest(".play-form");
    if (form) raise(form);
  });
  document.addEventListener("reset", (event) => setTimeout(() => all(".basket", event.target).forEach(add_up)));
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".play-form")) return;
    remember(event.target);
    keep(event.target);
  });

  // --- single keys
  function keys_work() {
    try { return localStorage.getItem("keys") !== "off"; } catch { return true; }
  }
  const typing = (element) => element.matches("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
  let typed = "", typed_at = 0;
  function go_to(key) {
    const now = Date.now();
    const choices = all(".play-form [data-key]:not(:disabled)");
    const called = (name) => choices.find((one) => one.dataset.key === name);
    typed = now - typed_at < 900 && called(typed + key) ? typed + key : key;
    typed_at = now;
    const found = called(typed);
    if (!found) return false;
    found.focus();
    if (found.type === "radio" && !found.checked) found.click();
    return true;
  }
  function press(key, focused) {
    const dice = all(".play-form [data-die]");
    if (/^[0-9]$/.test(key) && dice.length) {
      const die = dice.find((one) => one.dataset.die === key);
      if (die) die.click(), die.focus();
      return Boolean(die);
    }
    if (/^[0-9-]$/.test(key)) return go_to(key);
    const input = document.querySelector(".play-form input[data-low]");
    if (input && (key === "m" || key === "l")) {
      step(input, key === "m" ? 1 : -1);
      return true;
    }
    if (key === "Enter" && !focused.closest("button, a, summary, input")) {
      const form = document.querySelector(".play-form");
      const button = form && form.querySelector("button.main");
      if (button) form.requestSubmit(button);
      return Boolean(button);
    }
    return false;
  }
  document.addEventListener("keydown", (event) => {
    const focused = document.activeElement || document.body;
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (!keys_work() || typing(focused)) return;
    if (press(event.key, focused)) event.preventDefault();
  });

  // --- the focus stays among the forms
  let among = false;
  document.addEventListener("focusin", (event) => { among = Boolean(event.target.closest(".play-form")); });
  document.addEventListener("htmx:afterSettle", () => {
    dress();
    if (among && (!document.activeElement || document.activeElement === document.body)) {
      const legend = document.querySelector(".play-form legend, .play-form button");
      if (legend) legend.focus({ preventScroll: true });
    }
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", dress);
  else dress();
})();
