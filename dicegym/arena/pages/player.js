
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  // Face -> column and row of its pips on a grid of three by three; face 0 is a die that is hidden.
  const PIPS = [[], [[1, 1]], [[0, 0], [2, 2]], [[0, 0], [1, 1], [2, 2]], [[0, 0], [0, 2], [2, 0], [2, 2]],
    [[0, 0], [0, 2], [1, 1], [2, 0], [2, 2]], [[0, 0], [0, 1], [0, 2], [2, 0], [2, 1], [2, 2]]];
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const frames = data.frames, last = frames.length - 1;
  let now = 0, view = 0, timer = 0;
  // On a page of a server the address is asked for a moment and a seat; in a file they stand behind its number sign.
  const served = at("replay").dataset.address === "query";
  const pictures = data.pictures && data.pictures.pictures;

  function made(kind, text, name) {
    const element = document.createElement(kind);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  }

  function drawn(kind, attributes, inside) {
    const element = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    for (const child of inside || []) element.append(child);
    return element;
  }

  PIPS.forEach((pips, face) => {
    const body = drawn("rect", {x: 1, y: 1, width: 32, height: 32, rx: 6, fill: face ? "#fdfcf5" : "#d3e8dc"});
    const dots = pips.map(([x, y]) => drawn("circle", {cx: 8.5 + 8.5 * x, cy: 8.5 + 8.5 * y, r: 3.1, fill: "#202020"}));
    at("faces").append(drawn("symbol", {id: "die" + face, viewBox: "0 0 34 34"}, [body, ...dots]));
  });

  function die(face) {
    if (face >= PIPS.length) return made("span", String(face));
    const title = drawn("title", {});
    title.textContent = face ? String(face) : "hidden";
    return drawn("svg", {role: "img", viewBox: "0 0 34 34"}, [title, drawn("use", {href: "#die" + face})]);
  }

  // A picture is read as a document, in which nothing runs, and its elements are then taken over.
  function picture(number) {
    const [width, height] = data.pictures.size;
    const [title, pieces] = pictures[number];
    const body = pieces.map((piece) => data.pictures.pieces[piece]).join("");
    const text = `<svg xmlns="${SVG}" viewBox="0 0 ${width} ${height}">${body}</svg>`;
    const found = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    found.setAttribute("role", "img");
    found.setAttribute("font-family", data.pictures.font);
    found.setAttribute("aria-label", title);
    return found;
  }

  // Lines with cells have as many columns as the longest of them, so that columns stand below each other.
  function line([label, text, dice, active, cells], columns) {
    const row = made("div", undefined, active ? "line active" : "line");
    row.append(made("div", label, "label"));
    if (text || !cells.length) row.append(made("div", text, "text"));
    if (cells.length) {
      const places = made("div", undefined, "cells");
      for (let column = 0; column < columns; column++) places.append(made("span", cells[column] || ""));
      row.append(places);
    }
    if (dice.length) {
      const faces = made("div", undefined, "dice");
      faces.append(...dice.map(die));
      row.append(faces);
    }
    return row;
  }

  // What the chosen view may know of what was done in a frame, those of one player together.
  function told(frame) {
    const said = new Map();
    for (const [seat, words, wrong, knowing] of frame[1]) {
      if (!knowing.includes(view)) continue;
      const own = said.get(seat) || [];
      own.push([data.words[words], wrong]);
      said.set(seat, own);
    }
    return [...said].map(([seat, texts]) => {
      const p = made("p");
      p.append(made("b", data.names[seat] + ": "));
      texts.forEach(([text, wrong], place) => p.append(place ? ", " : "", made("span", text, wrong ? "wrong" : "")));
      return p;
    });
  }

  const isWrong = (frame) => frame[1].some((one) => one[2] && one[3].includes(view));

  function fillList() {
    at("list").replaceChildren(...frames.map((frame, place) => {
      const item = made("li", undefined, isWrong(frame) ? "bad" : "");
      item.tabIndex = -1;
      item.append(made("span", place ? String(place) : "", "number"));
      const words = made("div");
      const texts = told(frame);
      words.append(...(texts.length ? texts : [made("p", place ? "not shown to this seat" : "the beginning", "untold")]));
      item.append(words);
      item.addEventListener("click", () => show(place));
      return item;
    }));
    // Room for whoever does most, so that the table stays where it is.
    const most = Math.max(1, ...frames.map((frame) => new Set(frame[1].filter((one) => one[3].includes(view)).map((one) => one[0])).size));
    at("done").style.minHeight = `${1.45 * most}em`;
    const wrong = frames.filter(isWrong).length;
    at("wrong").hidden = !wrong;
    at("wrong").textContent = `⚠ next of ${wrong}`;
  }

  function show(place, keep) {
    now = Math.max(0, Math.min(last, place));
    const frame = frames[now];
    const [title, lines, footer] = data.scenes[frame[0][view]];
    const rows = lines.map((one) => data.lines[one]);
    const columns = Math.max(0, ...rows.map((row) => row[4].length));
    at("board").replaceChildren(made("div", title, "title"), ...rows.map((row) => line(row, columns)),
      made("div", footer, "footer"));
    if (pictures) at("picture").replaceChildren(picture(frame[0][view]));
    const texts = told(frame);
    at("done").replaceChildren(...(texts.length ? texts : [made("p", now ? "not shown to this seat" : "The game begins.")]));
    at("count").textContent = `move ${now} of ${last}`;
    at("slider").value = now;
    at("slider").setAttribute("aria-valuetext", `move ${now} of ${last}`);
    at("first").disabled = at("back").disabled = now === 0;
    at("last").disabled = at("forward").disabled = now === last;
    const old = at("list").querySelector("[aria-current]");
    if (old) old.removeAttribute("aria-current");
    const item = at("list").children[now];
    item.setAttribute("aria-current", "step");
    const list = at("list"), top = item.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 2;
    }
    if (!keep) {
      try { history.replaceState(history.state, "", address()); } catch { /* not in this frame */ }
    }
  }

  function address() {
    if (!served) return `#move=${now}&view=${data.views[view]}`;
    const asked = new URLSearchParams(location.search);
    asked.set("move", now);
    if (data.views[view] < 0) asked.delete("seat"); else asked.set("seat", data.views[view]);
    return `?${asked}`;
  }

  function see(number) {
    view = number;
    at("view").value = String(number);
    fillList();
    show(now);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    at("play").textContent = "▶ play";
    at("play").setAttribute("aria-label", "play");
  }

  function play() {
    if (timer) return stop();
    if (now === last) show(0);
    timer = setInterval(() => {
      show(now + 1);
      if (now === last) stop();
    }, 1000 / Number(at("speed").value));
    at("play").textContent = "⏸ stop";
    at("play").setAttribute("aria-label", "stop");
    return undefined;
  }

  function nextWrong() {
    const after = frames.findIndex((frame, place) => place > now && isWrong(frame));
    const found = after < 0 ? frames.findIndex(isWrong) : after;
    if (found >= 0) show(found);
  }

  function fromAddress() {
    const wanted = new URLSearchParams(served ? location.search : location.hash.slice(1));
    const seen = data.views.indexOf(Number(wanted.get(served ? "seat" : "view") ?? -1));
    view = seen < 0 ? 0 : seen;
    at("view").value = String(view);
    fillList();
    show(Math.trunc(Number(wanted.get("move"))) || 0, true);
  }

  const keys = {
    ArrowLeft: () => show(now - 1), ArrowRight: () => show(now + 1), Home: () => show(0), End: () => show(last),
    " ": play, v: () => see((view + 1) % data.views.length), w: nextWrong,
  };
  document.addEventListener("keydown", (event) => {
    const own = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || own === "SELECT" || own === "SUMMARY" || (own === "INPUT" && event.target.id !== "slider") || (own === "BUTTON" && event.key === " ")) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    if (event.key !== " ") stop();
    action();
  });

  if (!served) {
    at("title").textContent = data.title + (data.id ? `, game ${data.id}` : "");
    at("players").textContent = data.names.join(", ") + (data.names.length > 1 ? ", in the order of their seats" : "");
  }
  at("in-words").open = !pictures;
  at("result").append(...data.result.map((text) => made("p", text)));
  at("facts").textContent = data.facts.join(", ");
  at("view").append(...data.views.map((seat, number) => {
    const option = made("option", seat < 0 ? "everybody (nothing hidden)" : data.names[seat]);
    option.value = String(number);
    return option;
  }));
  at("view-label").hidden = data.views.length < 2;
  at("slider").max = String(last);
  at("slider").addEventListener("input", () => { stop(); show(Number(at("slider").value)); });
  at("view").addEventListener("change", () => see(Number(at("view").value)));
  at("speed").addEventListener("change", () => { if (timer) { stop(); play(); } });
  for (const [id, action] of [["first", keys.Home], ["back", keys.ArrowLeft], ["forward", keys.ArrowRight],
    ["last", keys.End], ["wrong", nextWrong]]) {
    at(id).addEventListener("click", () => { stop(); action(); });
  }
  at("play").addEventListener("click", play);
  window.addEventListener("hashchange", fromAddress);
  at("replay").hidden = false;
  fromAddress();
})();
