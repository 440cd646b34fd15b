// Scripts of a board: steppers, sums of a shop, rolling dice, single keys, and the focus.
// All listeners are on the document, because forms are replaced.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const number = (text) => (/^\d+$/.test(text.trim()) ? Number(text) : 0);
  const FORM = ".play-form";

  // --- one more, one less
  function step(input, by) {
    const low = Number(input.min), high = Number(input.max);
    const now = input.value === "" ? low : Number(input.value);
    input.value = String(Math.min(high, Math.max(low, now + by)));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // --- a number whose minimum depends on a choice
  function raise(form) {
    const chosen = form.querySelector("input[data-least]:checked");
    const input = form.querySelector("input[data-low]");
    if (!input) return;
    input.min = String(Math.max(Number(input.dataset.low), chosen ? Number(chosen.dataset.least) : 0));
    if (Number(input.value) < Number(input.min)) input.value = input.min;
  }

  // --- a shop
  function add_up(basket) {
    const budget = Number(basket.dataset.budget), unit = basket.dataset.unit;
    const inputs = all("input[data-price]", basket);
    const price = inputs.reduce((sum, one) => sum + number(one.value) * Number(one.dataset.price), 0);
    const left = budget - price;
    for (const one of inputs) {
      const tile = one.closest("li"), taken = number(one.value) > 0;
      tile.classList.toggle("taken", taken);
      one.setCustomValidity(left < 0 && taken ? `Together they cost ${-left} ${unit} more than you have.` : "");
      const full = Number(one.dataset.price) > left || number(one.value) >= Number(one.max);
      tile.querySelector(".add").setAttribute("aria-disabled", String(full));
    }
    const sum = basket.querySelector("output"), words = (amount) => amount.toLocaleString("en");
    const said = !price ? `You have ${words(budget)} ${unit}.`
      : left < 0 ? `${words(price)} ${unit}: ${words(-left)} more than you have.`
      : `${words(price)} ${unit}, ${words(left)} left.`;
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

  // --- dice: kept ones stay selected after the roll, the others roll for half a second
  const shows = (one) => one.getAttribute("aria-label");
  let lay = null;
  function look() {
    const moved = document.querySelector("#game input[name=move]");
    const dice = new Map(all(`${FORM} [data-die]`).map((one) => [one.id, { shown: shows(one), kept: one.checked }]));
    const lying = all("#game .lying").map((one) => one.textContent);
    if (dice.size || lying.length) lay = { move: moved && moved.value, dice, lying, kept: kept_now || (lay && lay.kept) };
  }
  let kept_now = null;
  function keep(form) {
    const boxes = all("[data-die]", form).filter((one) => one.checked);
    kept_now = boxes.length ? new Map(boxes.map((one) => [one.id, shows(one)])) : null;
  }
  function roll() {
    if (!lay) return;
    const moved = document.querySelector("#game input[name=move]");
    const boxes = all(`${FORM} [data-die]`);
    if (moved && moved.value !== lay.move && boxes.length) {
      const kept = lay.kept || new Map();
      const same = boxes.filter((one) => kept.has(one.id) && kept.get(one.id) === shows(one));
      const stay = same.length === kept.size ? same : [];
      for (const one of boxes) {
        if (stay.includes(one)) one.checked = true;
        else one.parentElement.querySelector("svg").classList.add("rolling");
      }
      lay = kept_now = null;
    }
    const before = lay && lay.lying;
    if (before) all("#game .lying").forEach((one, at) => {
      if (one.textContent !== before[at]) for (const die of all("svg", one)) die.classList.add("rolling");
    });
  }
  function count_dice(row) {
    if (row.dataset.most === undefined) return;
    const boxes = all("input", row), picked = boxes.filter((one) => one.checked).length, most = Number(row.dataset.most);
    boxes[0].setCustomValidity(picked > most ? `Keep ${most} at most.` : "");
  }

  // --- prepare new parts of the page
  function dress() {
    all(FORM).forEach(raise);
    all(`${FORM} .basket`).forEach(add_up);
    all(`${FORM} .dice-toggles`).forEach(count_dice);
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
    const form = event.target.closest(FORM);
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
    const form = event.target.closest(FORM);
    if (form) raise(form);
  });
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(FORM)) return;
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
    const choices = all(`${FORM} [data-key]:not(:disabled)`);
    const called = (name) => choices.find((one) => one.dataset.key === name);
    typed = now - typed_at < 900 && called(typed + key) ? typed + key : key;
    typed_at = now;
    const found = called(typed);
    if (!found) return false;
    found.focus();
    if (found.type === "radio" && !found.checked) found.click();
    return true;
  }
  function beside(focused, by) {
    const group = focused.closest(".choice-grid, .score-card, .tiles, .dice-row");
    const buttons = group ? all("button:enabled, [data-die]", group).filter((one) => one.checkVisibility()) : [];
    const at = buttons.indexOf(focused);
    if (at < 0 || !buttons[at + by]) return false;
    buttons[at + by].focus();
    return true;
  }
  function press(key, focused) {
    const dice = all(`${FORM} [data-die]`);
    if (/^[0-9]$/.test(key) && dice.length) {
      const die = dice.find((one) => one.dataset.die === key);
      if (die) die.click(), die.focus();
      return Boolean(die);
    }
    const input = document.querySelector(`${FORM} input[data-low]`);
    if (input && /^[-+=]$/.test(key)) {
      step(input, key === "-" ? -1 : 1);
      return true;
    }
    if (/^[0-9-]$/.test(key)) return go_to(key);
    const lettered = /^[a-z]$/.test(key) && document.querySelector(`#game [data-letter="${key}"]:not(:disabled)`);
    if (lettered) {
      lettered.click();
      return true;
    }
    if (key === "Enter" || (key === "r" && dice.length)) {
      if (key === "Enter" && focused.closest("button, a, summary, input:not([data-die])")) return false;
      const button = document.querySelector("#game .asked button.main") || document.querySelector("#game .yours button.main");
      if (button) button.form.requestSubmit(button);
      return Boolean(button);
    }
    if (/^Arrow(Right|Down)$/.test(key)) return beside(focused, 1);
    if (/^Arrow(Left|Up)$/.test(key)) return beside(focused, -1);
    return false;
  }
  const CALM = 400; // milliseconds after a change in which Enter does nothing, as it was meant for the old page
  let changed_at = 0;
  document.addEventListener("keydown", (event) => {
    const focused = document.activeElement || document.body;
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.key === "Enter" && focused.closest("#game, body") && (event.repeat || Date.now() - changed_at < CALM)) {
      event.preventDefault();
      return;
    }
    if (!keys_work() || typing(focused)) return;
    if (press(event.key, focused)) event.preventDefault();
  });

  // --- move the focus to the main action of a new part
  // The pause for Enter begins with the swap, before htmx settles the new part.
  const note_change = () => {
    changed_at = Date.now();
  };
  document.addEventListener("htmx:beforeSwap", look);
  document.addEventListener("htmx:afterSwap", note_change);
  document.addEventListener("htmx:afterSettle", () => {
    roll();
    dress();
    note_change();
    const here = document.activeElement;
    if (here && here !== document.body && !["now", "main"].includes(here.id)) return;
    const wanted = ["#game .asked button.main", "#game .yours button.main", "#how", "#now"];
    const next = wanted.map((one) => document.querySelector(one)).find((one) => one);
    if (next) next.focus({ preventScroll: true });
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", dress);
  else dress();
})();
