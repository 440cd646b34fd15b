// Whole numbers of 64 bits, held as numbers while those are exact, and what else kernels ask of Python and NumPy.
const $SAFE = Number.MAX_SAFE_INTEGER;
const $big = (x) => BigInt.asIntN(64, x);
function $whole(x) {
  const n = Number(x);
  return n >= -$SAFE && n <= $SAFE ? n : x;
}
function $add(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const c = a + b;
    if (c >= -$SAFE && c <= $SAFE) return c;
  }
  return $whole($big(BigInt(a) + BigInt(b)));
}
function $sub(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const c = a - b;
    if (c >= -$SAFE && c <= $SAFE) return c;
  }
  return $whole($big(BigInt(a) - BigInt(b)));
}
function $mul(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const c = a * b;
    if (c >= -$SAFE && c <= $SAFE) return c + 0;
  }
  return $whole($big(BigInt(a) * BigInt(b)));
}
function $floorDiv(a, b) {
  if (b === 0) return 0; // as compiled code has it
  if (typeof a === "number" && typeof b === "number") return Math.floor(a / b) + 0;
  const p = BigInt(a), q = BigInt(b);
  const whole = p / q;
  return $whole($big(p % q !== 0n && p < 0n !== q < 0n ? whole - 1n : whole));
}
function $mod(a, b) {
  if (b === 0) return 0;
  if (typeof a === "number" && typeof b === "number") {
    const c = a % b;
    return c !== 0 && c < 0 !== b < 0 ? c + b : c + 0;
  }
  const p = BigInt(a), q = BigInt(b);
  const c = p % q;
  return $whole(c !== 0n && c < 0n !== q < 0n ? c + q : c);
}
function $pow(a, b) {
  if (b < 0) return Math.trunc(Math.pow(Number(a), Number(b)));
  let c = 1n, base = BigInt(a);
  for (let n = BigInt(b); n > 0n; n >>= 1n) {
    if (n & 1n) c = $big(c * base);
    base = $big(base * base);
  }
  return $whole(c);
}
function $shl(a, b) {
  if (typeof a === "number" && b >= 0 && b < 64) {
    const c = a * 2 ** b;
    if (c >= -$SAFE && c <= $SAFE) return c + 0;
  }
  return $whole($big(BigInt(a) << BigInt(b)));
}
function $shr(a, b) {
  return typeof a === "number" && b >= 0 && b < 64 ? Math.floor(a / 2 ** b) + 0 : $whole(BigInt(a) >> BigInt(b));
}
const $fits = (a) => typeof a === "number" && (a | 0) === a;
function $and(a, b) {
  return $fits(a) && $fits(b) ? a & b : $whole(BigInt(a) & BigInt(b));
}
function $or(a, b) {
  return $fits(a) && $fits(b) ? a | b : $whole(BigInt(a) | BigInt(b));
}
function $xor(a, b) {
  return $fits(a) && $fits(b) ? a ^ b : $whole(BigInt(a) ^ BigInt(b));
}
const $min = (a, b) => (b < a ? b : a);
const $max = (a, b) => (b > a ? b : a);
const $narrow = (x, bits) => Number(BigInt.asIntN(bits, BigInt(x)));
const $truncated = (x) => {
  const c = Math.trunc(x) + 0;
  return c >= -$SAFE && c <= $SAFE ? c : $big(BigInt(c));
};
const $at = (i, n) => (i < 0 ? i + n : i);
const $end = (i, n) => Math.max(0, Math.min(i < 0 ? i + n : i, n));
function $floorDivReal(a, b) {
  return Math.floor(($modReal(a, b) - a) / -b);
}
function $modReal(a, b) {
  const c = a % b;
  return c !== 0 && c < 0 !== b < 0 ? c + b : c;
}
function $rint(x) {
  const down = Math.floor(x), rest = x - down;
  return rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : down + 1;
}
function $copy(to, from, made) {
  for (let i = 0; i < to.length; i++) to[i] = made(from[i]);
}
