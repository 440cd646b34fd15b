"use strict";
(() => {
  // What a cell is sorted by: a number where it begins with one, else its text. A dash stands below all numbers.
  const valueOf = (row, column) => row.cells[column].textContent.trim();
  const numberOf = (text) => {
    const found = /^[+\-−]?[\d,]*\.?\d+/.exec(text);
    return found ? Number(found[0].replaceAll(",", "").replace("−", "-")) : NaN;
  };
  const compared = (column, rows) => {
    const texts = rows.map((row) => valueOf(row, column)).filter((text) => text !== "-");
    if (texts.length && texts.every((text) => !Number.isNaN(numberOf(text)))) {
      const key = (row) => {
        const number = numberOf(valueOf(row, column));
        return Number.isNaN(number) ? -Infinity : number;
      };
      const keys = new Map(rows.map((row) => [row, key(row)]));
      return (a, b) => (keys.get(a) === keys.get(b) ? 0 : keys.get(a) - keys.get(b));
    }
    const order = new Intl.Collator("en", { numeric: true });
    return (a, b) => order.compare(valueOf(a, column), valueOf(b, column));
  };

  function sortable(table) {
    const titles = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    titles.forEach((title, column) => {
      const button = title.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const now = title.getAttribute("aria-sort");
        // Names begin with a, figures with the best: the larger.
        const first = title.classList.contains("number") && column > 0 ? "descending" : "ascending";
        const second = first === "ascending" ? "descending" : "ascending";
        const next = now === first ? second : first;
        const rows = [...body.rows];
        const order = compared(column, rows);
        rows.sort(next === "ascending" ? order : (a, b) => order(b, a));
        titles.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
        title.setAttribute("aria-sort", next);
        body.append(...rows);
      });
    });
  }

  // The row and the column of a heat map's cell, and the cell in words.
  function heat(table) {
    const output = table.closest("section").querySelector("output");
    const titles = table.tHead.rows[0].cells;
    let lit = [];
    const clear = () => {
      for (const cell of lit) cell.classList.remove("lit");
      lit = [];
      output.textContent = "";
    };
    table.addEventListener("mouseover", (event) => {
      clear();
      const cell = event.target.closest("tbody td");
      if (!cell) return;
      const row = cell.parentElement;
      lit = [row.cells[0], titles[cell.cellIndex]];
      for (const one of lit) one.classList.add("lit");
      const name = row.cells[0].lastChild.textContent.trim();
      output.textContent = `${name} against ${titles[cell.cellIndex].title}: ${cell.textContent}`;
    });
    table.addEventListener("mouseleave", clear);
  }

  // What was opened stays open when a live page brings its parts anew.
  const opened = new Set();
  const titleOf = (part) => part.querySelector("summary").textContent.replace(/\d+/g, "");
  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target.matches("details.more")) opened[event.target.open ? "add" : "delete"](titleOf(event.target));
    },
    true,
  );

  // Each table once, those too that come to a live page later.
  function wire() {
    for (const [kind, ready] of [["sortable", sortable], ["heat", heat]]) {
      for (const table of document.querySelectorAll(`table.${kind}:not([data-ready])`)) {
        table.dataset.ready = "";
        ready(table);
      }
    }
    for (const part of document.querySelectorAll("details.more")) part.open ||= opened.has(titleOf(part));
  }
  wire();
  document.addEventListener("htmx:load", wire);

  const only = document.getElementById("only");
  if (only) {
    const rows = [...document.getElementById("played").tBodies[0].rows];
    const shown = document.getElementById("shown");
    const names = rows.map((row) => row.cells[1].textContent.toLowerCase());
    only.addEventListener("input", () => {
      const wanted = only.value.trim().toLowerCase();
      let left = 0;
      rows.forEach((row, number) => {
        row.hidden = !names[number].includes(wanted);
        left += row.hidden ? 0 : 1;
      });
      shown.textContent = wanted ? `${left} of ${rows.length}` : "";
    });
  }
})();
