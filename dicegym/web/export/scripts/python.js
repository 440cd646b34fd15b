// What Python's values do, for functions that were translated: see dicegym/web/export/translate/plain.py.
"use strict";
var dicegym = globalThis.dicegym || (globalThis.dicegym = {});

dicegym.python = (function () {
  const plainOf = (value) => (typeof value === "bigint" ? Number(value) : value);

  class Slice {
    constructor(start, stop, step) {
      this.ends = [start, stop, step];
    }
    places(length) {
      const [start, stop, step] = [this.ends[0], this.ends[1], this.ends[2] ?? 1];
      const within = (value, low, high) => Math.max(low, Math.min(value < 0 ? value + length : value, high));
      const places = [];
      if (step > 0) {
        const end = stop === null ? length : within(stop, 0, length);
        for (let i = start === null ? 0 : within(start, 0, length); i < end; i += step) places.push(i);
      } else {
        const end = stop === null ? -1 : within(stop, -1, length - 1);
        for (let i = start === null ? length - 1 : within(start, -1, length - 1); i > end; i += step) places.push(i);
      }
      return places;
    }
  }

  // An array of NumPy that is read and not written.
  class Grid {
    constructor(data, shape, bool) {
      this.data = data;
      this.shape = shape;
      this.bool = bool;
    }
    value(place) {
      const value = plainOf(this.data[place]);
      return this.bool ? value !== 0 : value;
    }
    row(number) {
      const place = number < 0 ? number + this.shape[0] : number;
      if (this.shape.length === 1) return this.value(place);
      const rest = this.shape.slice(1);
      const size = rest.reduce((product, side) => product * side, 1);
      return new Grid(this.data.slice(place * size, (place + 1) * size), rest, this.bool);
    }
    item([first, ...rest]) {
      if (!(first instanceof Slice)) {
        const row = this.row(first);
        return rest.length ? row.item(rest) : row;
      }
      const rows = first.places(this.shape[0]).map((place) => (rest.length ? this.row(place).item(rest) : this.row(place)));
      if (!rows.length || !(rows[0] instanceof Grid)) return new Grid(rows, [rows.length], false);
      return new Grid(rows.flatMap((row) => row.flat()), [rows.length, ...rows[0].shape], this.bool);
    }
    flat() {
      return Array.from(this.data, (_, place) => this.value(place));
    }
    list() {
      return Array.from({ length: this.shape[0] }, (_, number) => this.row(number));
    }
    tolist() {
      return this.list().map((row) => (row instanceof Grid ? row.tolist() : row));
    }
    sum() {
      return this.flat().reduce((sum, value) => sum + Number(value), 0);
    }
    any() {
      return this.flat().some(truth);
    }
    all() {
      return this.flat().every(truth);
    }
    max() {
      return Math.max(...this.flat().map(Number));
    }
    min() {
      return Math.min(...this.flat().map(Number));
    }
    argmax() {
      const flat = this.flat();
      return flat.indexOf(Math.max(...flat));
    }
    astype() {
      return new Grid(this.data, this.shape, false);
    }
    copy() {
      return this;
    }
  }

  const READ = { b: ["getInt8", 1], B: ["getUint8", 1], "?": ["getUint8", 1], h: ["getInt16", 2], i: ["getInt32", 4],
    l: ["getBigInt64", 8], q: ["getBigInt64", 8], Q: ["getBigUint64", 8], f: ["getFloat32", 4], d: ["getFloat64", 8] };
  const read = (bytes, kind, at) => {
    const [name] = READ[kind];
    return plainOf(new DataView(bytes.buffer, bytes.byteOffset)[name](at, true));
  };

  // What Python's struct.Struct reads of bytes, little-endian and without padding.
  class Struct {
    constructor(format) {
      this.parts = [...format.matchAll(/(\d*)([a-zA-Z?])/g)].map(([, count, kind]) => [count === "" ? 1 : Number(count), kind]);
    }
    unpack_from(bytes, at = 0) {
      const found = [];
      for (const [count, kind] of this.parts) {
        if (kind === "s") found.push(bytes.subarray(at, at + count));
        if (kind === "s" || kind === "x") {
          at += count;
          continue;
        }
        for (let i = 0; i < count; i++, at += READ[kind][1]) found.push(read(bytes, kind, at));
      }
      return found;
    }
  }

  // A record of a game as functions of Python read it.
  class State {
    constructor(record, game) {
      this.record = record;
      this.game = game;
      this.layout = new Map(game.layout.map(([name, , , dtype, shape]) => [name, { bool: dtype === "bool", shape }]));
    }
    field(name) {
      const { bool, shape } = this.layout.get(name);
      const whole = new Grid(this.record[name], shape.length ? shape : [1], bool);
      return shape.length ? whole : whole.value(0);
    }
    copy() {
      return new State(this.game.copy(this.record), this.game);
    }
    tobytes() {
      return this.game.bytes(this.record);
    }
  }

  const truth = (value) => {
    if (Array.isArray(value) || typeof value === "string") return value.length > 0;
    if (value instanceof Set || value instanceof Map) return value.size > 0;
    if (value instanceof Grid) return value.any();
    return Boolean(value);
  };
  const iter = (value) => {
    if (Array.isArray(value)) return value;
    if (value instanceof Grid) return value.list();
    if (value instanceof Map) return [...value.keys()];
    return [...value];
  };
  const equal = (a, b) => {
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => equal(one, b[i]));
    if (typeof a === "boolean" && typeof b === "number") return Number(a) === b;
    if (typeof b === "boolean" && typeof a === "number") return Number(b) === a;
    return a === b || (a == null && b == null);
  };
  const text = (value) => {
    if (value === null || value === undefined) return "None";
    if (value === true) return "True";
    if (value === false) return "False";
    if (Array.isArray(value)) return `[${value.map((one) => (typeof one === "string" ? `'${one}'` : text(one))).join(", ")}]`;
    return String(value);
  };
  const less = (a, b) => {
    if (!Array.isArray(a)) return a < b ? -1 : a > b ? 1 : 0;
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const found = less(a[i], b[i]);
      if (found) return found;
    }
    return a.length - b.length;
  };
  const ordered = (values, options = {}) => {
    const keyed = iter(values).map((value) => [options.key ? options.key(value) : value, value]);
    keyed.sort((a, b) => less(a[0], b[0]));
    const sorted = keyed.map(([, value]) => value);
    return options.reverse ? sorted.reverse() : sorted;
  };
  const isOptions = (value) => value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
  const extreme = (sign) => (...given) => {
    const options = isOptions(given.at(-1)) ? given.pop() : {};
    const values = given.length === 1 ? iter(given[0]) : given;
    if (!values.length && "default" in options) return options.default;
    const key = options.key ?? ((value) => value);
    return values.reduce((best, value) => (less(key(value), key(best)) * sign > 0 ? value : best));
  };
  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const mod = (a, b) => {
    const c = a % b;
    return c !== 0 && c < 0 !== b < 0 ? c + b : c;
  };

  const elementwise = (a, b, made) => {
    const grid = a instanceof Grid ? a : b;
    const [left, right] = [a, b].map((one) => (one instanceof Grid ? one.flat() : null));
    const of = (list, single, place) => Number(list ? list[place] : single);
    return new Grid(grid.flat().map((_, place) => made(of(left, a, place), of(right, b, place))), grid.shape, false);
  };
  const isGrid = (a, b) => a instanceof Grid || b instanceof Grid;
  // As Python rounds: what lies in the middle goes to the even digit.
  const fixed = (value, digits) => {
    const exact = Math.abs(value).toFixed(100), point = exact.indexOf(".");
    const rest = exact.slice(point + 1 + digits);
    const shown = value.toFixed(digits);
    if (!/^50*$/.test(rest)) return shown;
    const down = exact.slice(0, digits ? point + 1 + digits : point);
    return Number(down.at(-1)) % 2 === 0 ? (value < 0 ? "-" : "") + down : shown;
  };
  const general = (value) => String(Number(value.toPrecision(6))); // of numbers that need no exponent
  const escaped = (words) =>
    words.replace(/[&<>"']/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" })[sign]);
  // Elements of pictures, as dicegym/pictures/svg.py makes them.
  const svg = (name, ...rest) => {
    const attributes = isOptions(rest.at(-1)) ? rest.pop() : {}, content = rest[0] ?? "";
    const shown = (value) => escaped(typeof value === "number" && !Number.isInteger(value) ? general(value) : text(value));
    const given = Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([key, value]) => ` ${key.replace(/_+$/, "").replaceAll("_", "-")}="${shown(value)}"`)
      .join("");
    return content ? `<${name}${given}>${content}</${name}>` : `<${name}${given}/>`;
  };
  const svgText = (words, x, y, attributes = {}) =>
    svg("text", escaped(words) || " ", { x: general(x), y: general(y), ...attributes });
  class PythonError extends Error {}

  const py = {
    Grid,
    State,
    Struct,
    PythonError,
    svg,
    svgText,
    escaped,
    // How wide words are, by widths of letters in parts of their size.
    measured(letters, widths, units, fallback) {
      const known = widths.map((list) => new Map([...letters].map((letter, place) => [letter, list[place] / units])));
      return (words, size, bold = false) =>
        size * [...words].reduce((sum, letter) => sum + (known[bold ? 1 : 0].get(letter) ?? fallback), 0);
    },
    // Players called by their names instead of the numbers of their seats, which the pattern finds.
    withNames: (pattern, verbs) => (words, names) =>
      words.replace(new RegExp(pattern, "g"), (all, numbers) =>
        numbers.match(/\d+/g).every((number) => Number(number) < names.length)
          ? numbers.replace(/\d+/g, (number) => names[number])
          : all).replace(new RegExp(verbs, "gi"), "$1"),
    error: (message) => new PythonError(message),
    fullmatch: (pattern, value) => new RegExp(`^(?:${pattern})$`).exec(value),
    oneLine: (value, most = 200) => text(value).replace(/\s+/g, " ").slice(0, most),
    repr: (value) => (typeof value === "string" ? `'${value}'` : text(value)),
    memoryview: (value) => ({
      cast(kind) {
        const size = READ[kind][1];
        return Array.from({ length: value.length / size }, (_, number) => read(Uint8Array.from(value), kind, number * size));
      },
    }),
    isinstance: (value, kind) => value != null && value.kind === kind,
    next: (values, ...fallback) => (values.length || !fallback.length ? values[0] : fallback[0]),
    bits(sign, a, b) {
      const [x, y] = [Number(a), Number(b)];
      const result = sign === "<<" ? x * 2 ** y : sign === ">>" ? Math.floor(x / 2 ** y) : sign === "&" ? x & y : x ^ y;
      if (![x, y, result].every((one) => (one | 0) === one)) throw new Error(`${a} ${sign} ${b} has more than 32 bits`);
      return result;
    },
    put(value, index, one) {
      if (value instanceof State) {
        const array = value.record[index];
        array[0] = typeof array[0] === "bigint" ? BigInt(one) : one;
      } else if (value instanceof Map) value.set(index, one);
      else if (Array.isArray(value)) value[index < 0 ? index + value.length : index] = one;
      else throw new Error("an array that is only read");
    },
    kind(methods) {
      const made = (...given) => {
        const self = py.instance(methods, {});
        self.kind = made;
        if (self.__init__) self.__init__(...given);
        return self;
      };
      return made;
    },
    instance(methods, held) {
      const self = { ...held };
      for (const [name, method] of Object.entries(methods)) {
        self[name] = (...given) => method(self, ...given);
        self[name].names = method.names.slice(1);
      }
      return self;
    },
    called: (value) => value.__call__,
    truth,
    iter,
    equal,
    str: (value = "") => text(value),
    slice: (...ends) => new Slice(...ends),
    and: (value, other) => (truth(value) ? other() : value),
    or: (value, other) => (truth(value) ? value : other()),
    plus: (a, b) => (isGrid(a, b) ? elementwise(a, b, (x, y) => x + y) : Array.isArray(a) ? a.concat(b) : typeof a === "string" ? a + b : Number(a) + Number(b)),
    minus: (a, b) => (a instanceof Set ? new Set([...a].filter((one) => !b.has(one))) : isGrid(a, b) ? elementwise(a, b, (x, y) => x - y) : a - b),
    times(a, b) {
      if (isGrid(a, b)) return elementwise(a, b, (x, y) => x * y);
      if (typeof a === "string") return a.repeat(Math.max(0, b));
      if (Array.isArray(a)) return Array.from({ length: Math.max(0, b) }, () => a).flat();
      return Array.isArray(b) || typeof b === "string" ? py.times(b, a) : a * b;
    },
    floorDiv: (a, b) => Math.floor(a / b),
    mod,
    union: (a, b) => (a instanceof Set ? new Set([...a, ...b]) : typeof a === "boolean" ? a || b : a | b),
    within(value, many) {
      if (typeof many === "string") return many.includes(value);
      if (many instanceof Set || many instanceof Map) return many.has(value);
      return iter(many).some((one) => equal(one, value));
    },
    attr(value, name) {
      if (value instanceof State) return value.field(name);
      if (value instanceof Grid && name === "size") return value.data.length;
      return value[name];
    },
    item(value, ...index) {
      if (value instanceof State) return value.field(index[0]);
      if (value instanceof Grid) return value.item(index);
      if (value instanceof Map) return value.get(index[0]);
      if (index[0] instanceof Slice) {
        const found = index[0].places(value.length).map((place) => value[place]);
        return typeof value === "string" ? found.join("") : found;
      }
      return value[index[0] < 0 ? Number(index[0]) + value.length : Number(index[0])];
    },
    format(value, spec = "") {
      const found = /^(?:(.)?([<>^]))?([+])?(0)?(\d+)?(,)?(?:\.(\d+))?([dfsg%])?$/.exec(spec);
      if (!found) throw new Error(`the format ${spec} is not translated`);
      const [, fill, side, plus, zero, width, comma, digits, kind] = found;
      let shown = text(value);
      if (kind === "f") shown = fixed(Number(value), Number(digits ?? 6));
      if (kind === "%") shown = `${fixed(100 * value, Number(digits ?? 6))}%`;
      if (kind === "g") shown = general(Number(value));
      if (kind === "d") shown = String(Number(value));
      if (comma) shown = shown.replace(/\d+/, grouped);
      if (plus && Number(value) >= 0) shown = `+${shown}`;
      const missing = Math.max(0, Number(width ?? 0) - shown.length);
      const pad = (zero ? "0" : fill ?? " ").repeat(missing);
      if (side === "^") {
        const left = Math.floor(missing / 2);
        return pad.slice(0, left) + shown + pad.slice(left);
      }
      return side === "<" || (!side && typeof value === "string") ? shown + pad : pad + shown;
    },
    call(called, given, options) {
      if (!called.names) return called(...given, options);
      const all = [...given];
      for (const [name, value] of Object.entries(options)) all[called.names.indexOf(name)] = value;
      return called(...all);
    },
    record(fields, methods = {}) {
      const names = fields.map(([name]) => name);
      const made = (...given) => {
        const values = fields.map(([, fallback], place) => (given[place] === undefined ? fallback : given[place]));
        names.forEach((name, place) => Object.defineProperty(values, name, { value: values[place] }));
        for (const [name, method] of Object.entries(methods)) {
          const own = (...more) => method(values, ...more);
          own.names = method.names.slice(1);
          Object.defineProperty(values, name, { value: own });
        }
        Object.defineProperty(values, "kind", { value: made });
        return values;
      };
      made.names = names;
      return made;
    },
    unpacked(values, before, after) {
      const list = iter(values), end = list.length - after;
      return [...list.slice(0, before), list.slice(before, end), ...list.slice(end)];
    },
    method(value, name, given, options) {
      if (options) {
        if (value[name]?.names) return py.call(value[name], given, options);
        given = [...given, options];
      }
      if (value instanceof Grid) return value[name](...given);
      if (typeof value === "string") return TEXTS[name](value, ...given);
      if (value instanceof Map) return MAPS[name](value, ...given);
      if (Array.isArray(value) && LISTS[name] && !Object.hasOwn(value, name)) return LISTS[name](value, ...given);
      if (typeof value === "number" || typeof value === "boolean") return value; // item, tolist and copy of one number
      return value[name](...given);
    },
    abs: Math.abs,
    all: (values) => iter(values).every(truth),
    any: (values) => iter(values).some(truth),
    bool: truth,
    dict: (value = []) => new Map(value),
    divmod: (a, b) => [Math.floor(a / b), mod(a, b)],
    enumerate: (values, start = 0) => iter(values).map((value, place) => [place + start, value]),
    float: Number,
    int: (value = 0) => Math.trunc(Number(value)),
    len: (value) => (value instanceof Grid ? value.shape[0] : value.size ?? value.length),
    list: (value = []) => [...iter(value)],
    tuple: (value = []) => [...iter(value)],
    map: (made, ...many) => py.zip(...many).map((values) => made(...values)),
    max: extreme(1),
    min: extreme(-1),
    range(...given) {
      const [start, stop, step] = given.length === 1 ? [0, given[0], 1] : [given[0], given[1], given[2] ?? 1];
      const values = [];
      for (let i = start; step > 0 ? i < stop : i > stop; i += step) values.push(Number(i));
      return values;
    },
    reversed: (values) => [...iter(values)].reverse(),
    round(value, digits = 0) {
      const scaled = value * 10 ** digits, down = Math.floor(scaled), rest = scaled - down;
      return (rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : down + 1) / 10 ** digits;
    },
    set: (value = []) => new Set(iter(value)),
    frozenset: (value = []) => new Set(iter(value)),
    sorted: ordered,
    sum: (values, start = 0) => iter(values).reduce((sum, value) => sum + Number(value), start),
    zip(...many) {
      const options = isOptions(many.at(-1)) ? many.pop() : {};
      const lists = many.map(iter);
      const length = lists.length ? Math.min(...lists.map((list) => list.length)) : 0;
      if (options.strict && lists.some((list) => list.length !== length)) throw new Error("lists of several lengths");
      return Array.from({ length }, (_, place) => lists.map((list) => list[place]));
    },
  };
  const TEXTS = {
    join: (between, parts) => iter(parts).join(between),
    split: (value, mark) => (mark === undefined ? value.trim().split(/\s+/) : value.split(mark)),
    replace: (value, old, fresh) => value.replaceAll(old, fresh),
    strip: (value) => value.trim(),
    rstrip: (value) => value.trimEnd(),
    lstrip: (value) => value.trimStart(),
    lower: (value) => value.toLowerCase(),
    upper: (value) => value.toUpperCase(),
    capitalize: (value) => value.charAt(0).toUpperCase() + value.slice(1).toLowerCase(),
    startswith: (value, marks) => [marks].flat().some((mark) => value.startsWith(mark)),
    endswith: (value, marks) => [marks].flat().some((mark) => value.endsWith(mark)),
    title: (value) => value.toLowerCase().replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
    rpartition(value, mark) {
      const at = value.lastIndexOf(mark);
      return at < 0 ? ["", "", value] : [value.slice(0, at), mark, value.slice(at + mark.length)];
    },
    find: (value, mark) => value.indexOf(mark),
    rfind: (value, mark) => value.lastIndexOf(mark),
    center: (value, width) => py.format(value, `^${width}`),
    zfill: (value, width) => value.padStart(width, "0"),
    partition(value, mark) {
      const at = value.indexOf(mark);
      return at < 0 ? [value, "", ""] : [value.slice(0, at), mark, value.slice(at + mark.length)];
    },
    removeprefix: (value, mark) => (value.startsWith(mark) ? value.slice(mark.length) : value),
    removesuffix: (value, mark) => (mark && value.endsWith(mark) ? value.slice(0, -mark.length) : value),
    ljust: (value, width) => value.padEnd(width),
    rjust: (value, width) => value.padStart(width),
    count: (value, mark) => value.split(mark).length - 1,
    isdigit: (value) => /^\d+$/.test(value),
  };
  const MAPS = {
    get: (value, key, fallback = null) => (value.has(key) ? value.get(key) : fallback),
    items: (value) => [...value.entries()],
    keys: (value) => [...value.keys()],
    values: (value) => [...value.values()],
  };
  const LISTS = {
    pop: (value, place = -1) => value.splice(place, 1)[0],
    append: (value, one) => void value.push(one),
    extend: (value, many) => void value.push(...iter(many)),
    index: (value, one) => value.findIndex((other) => equal(one, other)),
    count: (value, one) => value.filter((other) => equal(one, other)).length,
    copy: (value) => [...value],
  };
  return py;
})();
