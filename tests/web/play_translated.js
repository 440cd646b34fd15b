// node play_translated.js PYTHON ENGINE GAME GAMES: plays games and writes all that can be seen after each step, as bytes.
// GAMES: JSON [{settings, key, actions}, ...]. GAME may load models; then what the last of them chooses is written too.
"use strict";
const fs = require("fs");
const vm = require("vm");
const [python, engine, game, games] = process.argv.slice(2);
globalThis.dicegym = { games: {}, models: {} };
for (const file of [python, engine, game]) vm.runInThisContext(fs.readFileSync(file, "utf8"), file);

let now;

// The first form filled in as it is offered, and the actions that it means, or what is wrong with it.
function first(table, place, state, forms) {
  const fields = new Map();
  for (const widget of forms[0].widgets) {
    if (widget.options) {
      const open = widget.options.find((one) => !one.refused);
      fields.set(widget.name, [widget.chosen || open.value]);
    } else if (widget.faces) fields.set(widget.name, ["0", "2"]);
    else if (widget.items) fields.set(`${widget.name}.${widget.items[0].value}`, ["1"]);
    else fields.set(widget.name, [String(widget.value)]);
  }
  try {
    return [[...fields], table.chosen(place, state, forms[0].name, fields)];
  } catch (error) {
    if (!(error instanceof dicegym.python.PythonError)) throw error;
    return [[...fields], error.message];
  }
}

(async () => {
  const table = await dicegym.load(Object.values(dicegym.games)[0]);
  const model = Object.values(dicegym.models)[0];
  const network = model && (await dicegym.network(model));
  const twins = Object.values(table.twins);
  const parts = [];
  const view = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const see = (state, fault, action, before) => {
    const settings = Object.fromEntries(Object.keys(now.settings).map((name) => [name, Number(state[name][0])]));
    const names = Array.from({ length: settings.players }, (_, seat) => `agent ${seat}`);
    const seat = (before ?? state).player[0];
    const place = table.place(settings, seat, names);
    const said = [table.screen.scene(table.seen(state), seat), table.screen.scene(table.seen(state), null)];
    for (const [viewer, opened] of [[seat, table.open], [null, []]]) {
      const drawn = table.screen.picture(table.seen(state), table.screen.Viewpoint(viewer, names, new Set(opened)));
      said.push([drawn.width, drawn.height, [...drawn.tiles]]);
    }
    if (before && table.screen.told) {
      const wrong = table.faults[fault];
      said.push(table.screen.told(place, table.seen(before), action, table.seen(state), wrong, now.brief));
    }
    if (state.over[0]) {
      if (table.screen.ending) said.push(table.screen.ending(place, table.seen(state)));
    } else {
      const mover = table.place(settings, state.player[0], names);
      const forms = table.forms(mover, state);
      said.push(forms);
      const [filled, actions] = first(table, mover, state, forms);
      said.push(filled, actions);
    }
    const text = Buffer.from(JSON.stringify(said));
    parts.push(view(Int32Array.of(text.length)), text);
  };
  const note = (state, fault, action, before) => {
    parts.push(view(Int32Array.of(fault)), Buffer.from(table.bytes(state)));
    for (let seat = 0; seat < state.players[0]; seat++) parts.push(view(table.observe(state, seat)));
    const mask = table.legal(state);
    parts.push(view(mask), view(table.returns(state)));
    if (now.screens) see(state, fault, action, before);
    if (state.over[0]) return;
    const chosen = twins.map((name) => table.functions[name](table.copy(state)));
    parts.push(view(BigInt64Array.from(chosen, BigInt)));
    if (network) parts.push(view(Int32Array.of(network.act(table.observe(state, state.player[0]), mask, 0.37))));
  };
  for (const { settings, key, actions, brief, screens } of JSON.parse(fs.readFileSync(games, "utf8"))) {
    const state = table.begin(settings, BigInt(key));
    now = { settings, brief, screens };
    note(state, 0);
    for (const action of actions) {
      const before = table.copy(state);
      note(state, table.step(state, action), action, before);
    }
  }
  process.stdout.write(Buffer.concat(parts));
})();
