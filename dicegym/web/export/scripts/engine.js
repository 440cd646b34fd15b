// Games from their translated rules: records, keys, seats. Nothing here knows any game.
"use strict";
var dicegym = globalThis.dicegym || (globalThis.dicegym = {});

(function (dicegym) {
  dicegym.games ??= {};
  dicegym.models ??= {};

  const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  // Arrays that Python packed: see `packed` in dicegym/web/export/translate/program.py.
  dicegym.unpacked = async function (data) {
    if (!data.bytes) return [];
    const stream = new Blob([decoded(data.bytes)]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = await new Response(stream).arrayBuffer();
    let at = 0;
    return data.kinds.map(([kind, length]) => {
      const array = new globalThis[kind](bytes, at, length);
      at += Math.ceil(array.byteLength / 8) * 8;
      return array;
    });
  };

  const sizes = (layout) => layout.map(([, kind, length]) => globalThis[kind].BYTES_PER_ELEMENT * length);

  // A game with its number of players: records are objects of typed arrays.
  dicegym.load = async function (data) {
    const rules = data.rules(await dicegym.unpacked(data.constants));
    const { layout, functions } = rules;
    const blank = () => {
      const state = {};
      for (const [name, kind, length] of layout) state[name] = new globalThis[kind](length);
      return state;
    };
    const put = (state, name, value) => {
      state[name][0] = typeof state[name][0] === "bigint" ? BigInt(value) : value;
    };
    const py = dicegym.python;
    const screen = data.screen(await dicegym.unpacked(data.shown), py);
    const game = {
      ...data.facts,
      layout,
      functions,
      screen,
      // Begins a game: settings are players and parameters, key a BigInt.
      begin(settings, key) {
        const state = blank();
        for (const [name, value] of Object.entries(settings)) put(state, name, value);
        state.key[0] = key;
        functions.reset(state);
        return state;
      },
      keyOf: (seed, episode) => functions.key_of(BigInt.asUintN(64, BigInt(seed)), BigInt(episode)),
      copy(state) {
        const other = {};
        for (const [name] of layout) other[name] = state[name].slice();
        return other;
      },
      // The bytes of a record as NumPy has them.
      bytes(state) {
        const all = new Uint8Array(sizes(layout).reduce((sum, size) => sum + size, 0));
        let at = 0;
        for (const [name] of layout) {
          const array = state[name];
          all.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
          at += array.byteLength;
        }
        return all;
      },
      step: (state, action) => functions.step(state, action),
      legal(state) {
        const mask = new Uint8Array(data.facts.actions);
        if (!state.over[0]) functions.legal(state, mask);
        return mask;
      },
      observe(state, seat) {
        const out = new Float32Array(data.facts.observation[state.players[0]]);
        functions.observe(state, seat, out);
        return out;
      },
      returns(state) {
        const out = new Float32Array(state.players[0]);
        functions.returns(state, out);
        return out;
      },
      // Where somebody sits, as functions of Python ask for it: see `Place` in dicegym/games/keyboard.py.
      place(settings, seat, names) {
        const { players, ...parameters } = settings;
        const table = {
          name: data.facts.name,
          players,
          parameters: new Map(Object.entries(parameters)),
          n_actions: data.facts.actions,
          step: (state, action) => game.step(state.record, action),
          legal: (state) => new py.Grid(game.legal(state.record), [data.facts.actions], true),
          observe: (state, from) => new py.Grid(game.observe(state.record, from), [data.facts.observation[players]]),
          returns: (state) => new py.Grid(game.returns(state.record), [players]),
          view: (state, from) => screen.view(state, from),
          action_name: (action) => data.facts.names[action],
        };
        return screen.Place(table, seat, names);
      },
      seen: (state) => new py.State(state, game),
      // Forms of a person to move: those of the game, or one with all that is legal.
      forms(place, state) {
        if (screen.forms) return screen.forms(place, game.seen(state));
        const options = [];
        game.legal(state).forEach((legal, action) => {
          if (legal) options.push({ value: String(action), label: data.facts.names[action], note: "", refused: "" });
        });
        return [{ name: "actions", send: "Your move", note: "", widgets: [{ name: "action", label: "Move", options }] }];
      },
      // The actions that a filled form means; throws an error with what to do instead.
      chosen(place, state, form, fields) {
        if (screen.chosen) return screen.chosen(place, game.seen(state), form, fields);
        return [Number(fields.get("action")[0])];
      },
    };
    return game;
  };

  // --- models ------------------------------------------------------------------------------------------------------

  const ACTIVATIONS = {
    ReLU: (x) => (x > 0 ? x : 0),
    Tanh: Math.tanh,
    Sigmoid: (x) => 1 / (1 + Math.exp(-x)),
    SiLU: (x) => x / (1 + Math.exp(-x)),
    ELU: (x) => (x > 0 ? x : Math.expm1(Math.min(x, 0))),
    LeakyReLU: (x) => (x > 0 ? x : 0.01 * x),
  };

  // The best legal action, of equal ones the first; -1 if none is legal.
  const bestOf = (scores, mask) => {
    let best = -1;
    for (let action = 0; action < mask.length; action++) {
      if (mask[action] && (best < 0 || scores[action] > scores[best])) best = action;
    }
    return best;
  };

  // A network of float32 weights that computes in float64, as `dicegym.bots.network.Network` does.
  dicegym.network = async function (data) {
    const arrays = await dicegym.unpacked(data);
    const layers = data.activations.map((name, number) => ({
      weight: arrays[2 * number],
      bias: arrays[2 * number + 1],
      activation: ACTIVATIONS[name],
    }));
    return {
      scores(observation) {
        let x = Float64Array.from(observation);
        for (const { weight, bias, activation } of layers) {
          const n = bias.length;
          const out = new Float64Array(n);
          for (let i = 0; i < x.length; i++) {
            const value = x[i];
            if (value === 0) continue;
            const row = i * n;
            for (let j = 0; j < n; j++) out[j] += value * weight[row + j];
          }
          for (let j = 0; j < n; j++) out[j] = activation ? activation(out[j] + bias[j]) : out[j] + bias[j];
          x = out;
        }
        return x;
      },
      choose(observation, mask) {
        return bestOf(this.scores(observation), mask);
      },
      // As the model plays: its best action, or one drawn by a number of 0 <= u < 1, as `dicegym.players.drawing` does.
      act(observation, mask, u) {
        const scores = this.scores(observation);
        const best = bestOf(scores, mask);
        if (!data.temperature || best < 0) return best;
        const bounds = [];
        let sum = 0;
        for (let action = 0; action < mask.length; action++) {
          if (mask[action]) sum += Math.exp((scores[action] - scores[best]) / data.temperature);
          bounds.push(sum);
        }
        const drawn = bounds.findIndex((bound) => bound > u * sum);
        return drawn < 0 ? best : drawn;
      },
    };
  };
})(dicegym);
