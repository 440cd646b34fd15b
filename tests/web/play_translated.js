// node play_translated.js ENGINE GAME GAMES: plays games and writes all that can be seen after each step, as bytes.
// GAMES: JSON [{settings, key, actions}, ...]. GAME may load models; then what the last of them chooses is written too.
"use strict";
const fs = require("fs");
const vm = require("vm");
const [engine, game, games] = process.argv.slice(2);
globalThis.dicegym = { games: {}, models: {} };
for (const file of [engine, game]) vm.runInThisContext(fs.readFileSync(file, "utf8"), file);

(async () => {
  const table = await dicegym.load(Object.values(dicegym.games)[0]);
  const model = Object.values(dicegym.models)[0];
  const network = model && (await dicegym.network(model));
  const twins = Object.values(table.twins);
  const parts = [];
  const view = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
  const note = (state, fault) => {
    parts.push(view(Int32Array.of(fault)), Buffer.from(table.bytes(state)));
    for (let seat = 0; seat < state.players[0]; seat++) parts.push(view(table.observe(state, seat)));
    const mask = table.legal(state);
    parts.push(view(mask), view(table.returns(state)));
    if (state.over[0]) return;
    const chosen = twins.map((name) => table.functions[name](table.copy(state)));
    parts.push(view(BigInt64Array.from(chosen, BigInt)));
    if (network) parts.push(view(Int32Array.of(network.choose(table.observe(state, state.player[0]), mask))));
  };
  for (const { settings, key, actions } of JSON.parse(fs.readFileSync(games, "utf8"))) {
    const state = table.begin(settings, BigInt(key));
    note(state, 0);
    for (const action of actions) note(state, table.step(state, action));
  }
  fs.writeSync(1, Buffer.from([]));
  process.stdout.write(Buffer.concat(parts));
})();
