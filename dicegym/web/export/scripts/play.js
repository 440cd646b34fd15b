// A game against a model or a bot, all of it in this page.
"use strict";
(async () => {
  const { element, die, form } = dicegym.page;
  const at = (id) => document.getElementById(id);
  const { name, root, opponents } = JSON.parse(at("about").textContent);
  const game = await dicegym.load(dicegym.games[name]);
  const MOST_MOVES = 100000, SHOWN = 40;
  const memory = `dicegym-demo ${name}`;
  let table = null; // {settings, seat, seed, against, state, names, actions, waiting, told, said}
  let choose = null;

  // --- opponents

  const script = (address) => new Promise((done, failed) => {
    const tag = document.createElement("script");
    tag.src = address;
    tag.onload = done;
    tag.onerror = () => failed(new Error(`${address} cannot be loaded`));
    document.head.append(tag);
  });
  const networks = new Map();
  async function chooser(id) {
    const { twin, file, name: called } = opponents.find((one) => one.id === id) ?? opponents[0];
    if (twin) return (state) => Number(game.functions[twin](game.copy(state)));
    const key = `${name}/${called}`;
    if (!networks.has(key)) {
      tell(`Loading the model ${called} ...`);
      if (!dicegym.models[key]) await script(root + file);
      networks.set(key, await dicegym.network(dicegym.models[key]));
    }
    return (state, u) => networks.get(key).act(game.observe(state, state.player[0]), game.legal(state), u);
  }

  // A number of 0 <= u < 1 for the next decision of the game, the same whenever it is played again.
  const uniform = () => Number(game.keyOf(game.keyOf(table.seed, 0), table.actions.length) >> 11n) / 2 ** 53;

  // --- the table

  const named = (text) => game.screen.named(text, table.names).replaceAll("you (you)", "you");
  // Parts of a line stand apart by spaces, and so do numbers that are padded to be below each other.
  const parted = (text) => text.trim().replace(/^(\w+) +(?=\d)/, "$1 ").replace(/ {2,}/g, " \u00b7 ");

  async function begin(wanted, actions = []) {
    const settings = { players: wanted.players, ...game.parameters };
    const found = opponents.find((one) => one.id === wanted.against) ?? opponents[0];
    const others = Array.from({ length: wanted.players }, () => found.name);
    let number = 0;
    const names = others.map((other, seat) => (seat === wanted.seat ? "you" : ++number === 1 ? other : `${other} ${number}`));
    try {
      choose = await chooser(found.id);
    } catch (error) {
      tell(error.message);
      return;
    }
    const state = game.begin(settings, game.keyOf(wanted.seed, 0));
    table = { ...wanted, against: found.id, settings, state, names, actions: [], waiting: [], told: [] };
    table.place = game.place(settings, wanted.seat, names);
    for (const action of actions) play(action);
    if (actions.length) others_play();
    else table.said = 0, others_play();
    show();
  }

  // Plays one action of whoever is to move, and notes what there is to tell of it.
  function play(action) {
    const { state } = table, mover = state.player[0], before = game.copy(state);
    const fault = game.step(state, action);
    table.actions.push(action);
    let lines = null;
    try {
      lines = game.screen.told?.(table.place, game.seen(before), action, game.seen(state), game.faults[fault], false);
    } catch (error) {
      console.warn(error);
    }
    table.told.push(...(lines ?? [`${mover === table.seat ? "You" : table.names[mover]}: ${game.names[action] ?? action}.`]));
  }

  function others_play() {
    for (let moves = 0; !table.state.over[0] && moves < MOST_MOVES; moves++) {
      const { state } = table;
      if (state.player[0] !== table.seat) play(choose(state, uniform()));
      else if (table.waiting.length && game.legal(state)[table.waiting[0]] !== 0) play(table.waiting.shift());
      else if (table.waiting.length && table.waiting[0] >= game.actions) play(table.waiting.shift());
      else break;
    }
    table.waiting = [];
  }

  // --- what is seen

  function tell(text) {
    at("status").textContent = text;
  }

  function dice_of(faces) {
    const words = [...faces].map((face) => (face ? String(face) : "hidden")).join(", ");
    return element("span", { class: "scene-dice", role: "img", "aria-label": `dice: ${words}` }, [...faces].map((face) => die(face, 36)));
  }

  function scene_of(state) {
    const scene = game.screen.scene(game.seen(state), table.seat);
    const shown = element("div", { class: "scene" }, element("h2", {}, named(scene.title)));
    const lines = [...scene.lines];
    const wide = lines.filter((line) => [...line.cells].length);
    if (wide.length) {
      const width = Math.max(...wide.map((line) => [...line.cells].length));
      const cells = (line, kind, more) => Array.from({ length: width }, (_, place) =>
        element(kind, { class: "number", ...more }, [...line.cells][place] ?? ""));
      const row = (line) => {
        const words = named([line.label, line.text].filter(Boolean).join(" "));
        if (!words) return element("tr", {}, element("td"), cells(line, "th", { scope: "col" }));
        const head = element("th", { scope: "row" }, line.active ? "\u25b6 " : "", words);
        return element("tr", { class: line.active ? "active" : null }, head, cells(line, "td", {}));
      };
      shown.append(element("div", { class: "wide", role: "region", tabindex: "0", "aria-label": "Scores" }, element("table", {}, wide.map(row))));
    }
    const list = element("ul", { class: "scene-lines" });
    for (const line of lines) {
      if ([...line.cells].length || !(line.label || line.text || [...line.dice].length)) continue;
      list.append(element("li", { class: line.active ? "active" : null },
        element("b", {}, line.active ? element("span", { "aria-label": "to move: " }, "\u25b6 ") : "", named(line.label.trim())),
        element("span", { class: "scene-text" }, parted(named(line.text))),
        [...line.dice].length ? dice_of(line.dice) : ""));
    }
    shown.append(list);
    if (scene.footer && !state.over[0]) shown.append(element("p", {}, named(scene.footer)));
    return shown;
  }

  // The picture of a state, and the same in words below it; the words alone where there is no picture.
  function shown(state) {
    const words = scene_of(state);
    try {
      const drawing = game.screen.picture(game.seen(state), game.screen.Viewpoint(table.seat, table.names, new Set(game.open)));
      const tile = ({ x, y, body }) => `<g transform="translate(${x} ${y})">${body}</g>`;
      const source = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${drawing.width} ${drawing.height}" ` +
        `font-family="DejaVu Sans, Verdana, system-ui, sans-serif">${[...drawing.tiles].map(tile).join("")}</svg>`;
      const picture = document.importNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement, true);
      if (picture.nodeName !== "svg") throw new Error("the picture is no SVG");
      picture.setAttribute("aria-hidden", "true");
      const open = at("in-words")?.open ?? false;
      const more = element("details", { id: "in-words", open }, element("summary", {}, "The table in words"), words);
      return [element("div", { class: "picture" }, picture), more];
    } catch (error) {
      if (game.screen.picture) console.warn(error);
      return [words];
    }
  }

  function ending() {
    try {
      return game.screen.ending(table.place, game.seen(table.state));
    } catch {
      const returns = [...game.returns(table.state)];
      const best = returns.map((value, seat) => [value, seat]).filter(([value]) => value === Math.max(...returns));
      return `Over. First: ${best.map(([, seat]) => table.names[seat]).join(", ")}.`;
    }
  }

  function show() {
    const { state } = table, over = Boolean(state.over[0]);
    const fresh = table.told.slice(table.said ?? 0);
    const focused = document.activeElement?.id;
    at("table").replaceChildren(...shown(state));
    at("happened").replaceChildren(...fresh.slice(-SHOWN).map((line) => element("p", {}, line)));
    at("history").replaceChildren(...table.told.map((line) => element("li", {}, line)));
    at("history-count").textContent = table.told.length ? `(${table.told.length})` : "";
    at("result").hidden = !over;
    if (over) {
      const lines = ending().split("\n"); // the last says who has won, and a table may come before it
      at("result-words").textContent = lines.pop();
      at("result-card").textContent = lines.join("\n");
      at("result-card").hidden = !lines.length;
    }
    tell(over ? "The game is over." : "It is your move.");
    const forms = over ? [] : [...game.forms(table.place, state)];
    at("moves").replaceChildren(...forms.map(form));
    const others = table.names.filter((_, seat) => seat !== table.seat).join(", ");
    at("facts").textContent = `Seed ${table.seed}, ${table.settings.players} players; you sit in seat ${table.seat + 1} against ${others}.`;
    document.dispatchEvent(new Event("htmx:afterSettle")); // as widgets.js knows it
    if (focused) at(focused)?.focus({ preventScroll: true });
    if (over && at("moves").contains(document.activeElement) === false) at("result-words").focus({ preventScroll: true });
    keep();
  }

  function keep() {
    const { settings, seat, seed, against, actions } = table;
    try {
      localStorage.setItem(memory, JSON.stringify({ players: settings.players, seat, seed, against, actions, fingerprint: game.fingerprint }));
    } catch { /* forbidden, or full */ }
  }
  function kept() {
    try {
      const found = JSON.parse(localStorage.getItem(memory) ?? "null");
      return found && found.fingerprint === game.fingerprint ? found : null;
    } catch {
      return null;
    }
  }

  // --- what a person does

  at("moves").addEventListener("submit", (event) => {
    event.preventDefault();
    const sent = event.target, fields = new Map();
    for (const [key, value] of new FormData(sent, event.submitter)) fields.set(key, [...(fields.get(key) ?? []), value]);
    try {
      table.waiting = [...game.chosen(table.place, table.state, sent.dataset.form, fields)].map(Number);
    } catch (error) {
      if (!(error instanceof dicegym.python.PythonError)) throw error;
      tell(error.message);
      return;
    }
    table.said = table.told.length;
    others_play();
    show();
  });

  const fresh_seed = () => crypto.getRandomValues(new Uint32Array(1))[0];
  const asked = () => {
    const players = Number(at("players").value);
    const seat = Math.min(Number(at("seat").value), players) - 1;
    const text = at("seed").value.trim();
    return { players, seat, against: at("against").value, seed: /^\d{1,15}$/.test(text) ? Number(text) : fresh_seed() };
  };
  const put = (wanted) => {
    at("players").value = wanted.players;
    at("seat").value = wanted.seat + 1;
    at("against").value = wanted.against;
    at("against").dispatchEvent(new Event("change"));
  };
  at("setup").addEventListener("submit", (event) => {
    event.preventDefault();
    begin(asked());
    at("settings").open = false;
  });
  at("again").addEventListener("click", () => begin({ players: table.settings.players, seat: table.seat, against: table.against, seed: table.seed }));
  at("another").addEventListener("click", () => begin({ players: table.settings.players, seat: table.seat, against: table.against, seed: fresh_seed() }));
  at("against").addEventListener("change", () => {
    at("against-note").textContent = opponents.find((one) => one.id === at("against").value)?.note ?? "";
  });

  globalThis.dicegym.playing = () => table; // for tests and the curious
  const before = kept();
  const wanted = before ?? asked();
  put(wanted);
  await begin(wanted, before?.actions ?? []);
})().catch((error) => {
  document.getElementById("status").textContent = `This page does not work in this browser: ${error.message}`;
  throw error;
});
