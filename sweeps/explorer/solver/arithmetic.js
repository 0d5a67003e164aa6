// The solver of the page: what runs the tapes that hold the library's formulas, in float64 and in double-double.

// @generated constants

const CODE = Object.fromEntries(OPERATIONS.map((name, k) => [name, k]));
const {
  add: ADD, subtract: SUBTRACT, multiply: MULTIPLY, divide: DIVIDE, sqrt: SQRT, select: SELECT, nonzero: NONZERO,
  where: WHERE, less: LESS, less_equal: LESS_EQUAL, equal: EQUAL, and: AND, or: OR, xor: XOR, not: NOT,
  negative: NEGATIVE, absolute: ABSOLUTE, sign: SIGN, floor: FLOOR, is_finite: IS_FINITE, maximum: MAXIMUM,
  minimum: MINIMUM, root: ROOT, sine: SINE, cosine: COSINE, quotient: QUOTIENT, power: POWER, arctangent: ARCTANGENT,
  exponential: EXPONENTIAL,
} = CODE;

// ---------------------------------------------------------------- tapes in float64

class Tape {
  constructor(written) {
    this.inputs = written.inputs;
    this.code = Int32Array.from(written.code);
    this.outputs = Int32Array.from(written.outputs);
    this.signs = Float64Array.from(written.signs);
    this.hi = new Float64Array(written.size);
    this.lo = new Float64Array(written.size);
    written.constants.forEach((x, k) => { this.hi[this.inputs + k] = Number(x); });
  }

  /** Run on `x`, an array of numbers, into `found`. */
  run(x, found) {
    const r = this.hi, code = this.code, n = code.length;
    for (let k = 0; k < this.inputs; k++) r[k] = x[k];
    for (let k = 0; k < n; k += 5) {
      const a = r[code[k + 2]], b = r[code[k + 3]];
      let y;
      switch (code[k]) {
        case ADD: y = a + b; break;
        case SUBTRACT: y = a - b; break;
        case MULTIPLY: y = a * b; break;
        case DIVIDE: case QUOTIENT: y = a / b; break;
        case SQRT: y = a > 0 ? Math.sqrt(a) : 0; break;
        case SELECT: y = a > 0 ? b : r[code[k + 4]]; break;
        case NONZERO: y = a === 0 ? 1e-280 : a; break;
        case WHERE: y = a !== 0 ? b : r[code[k + 4]]; break;
        case LESS: y = a < b ? 1 : 0; break;
        case LESS_EQUAL: y = a <= b ? 1 : 0; break;
        case EQUAL: y = a === b ? 1 : 0; break;
        case AND: y = a !== 0 && b !== 0 ? 1 : 0; break;
        case OR: y = a !== 0 || b !== 0 ? 1 : 0; break;
        case XOR: y = (a !== 0) !== (b !== 0) ? 1 : 0; break;
        case NOT: y = a === 0 ? 1 : 0; break;
        case NEGATIVE: y = -a; break;
        case ABSOLUTE: y = Math.abs(a); break;
        case SIGN: y = Math.sign(a); break;
        case FLOOR: y = Math.floor(a); break;
        case IS_FINITE: y = Number.isFinite(a) ? 1 : 0; break;
        case MAXIMUM: y = Math.max(a, b); break;
        case MINIMUM: y = Math.min(a, b); break;
        case ROOT: y = Math.sqrt(a); break;
        case SINE: y = Math.sin(a); break;
        case COSINE: y = Math.cos(a); break;
        case POWER: y = a ** b; break;
        case ARCTANGENT: y = Math.atan(a); break;
        case EXPONENTIAL: y = Math.exp(a); break;
        default: throw new Error(`operation ${code[k]} is none of float64`);
      }
      r[code[k + 1]] = y;
    }
    for (let k = 0; k < this.outputs.length; k++) found[k] = r[this.outputs[k]] * this.signs[k];
  }

  /** Run on pairs `xh + xl` into pairs; divisions by zero are divisions by 1e-280. */
  runPairs(xh, xl, fh, fl) {
    const h = this.hi, l = this.lo, code = this.code, n = code.length;
    for (let k = 0; k < this.inputs; k++) { h[k] = xh[k]; l[k] = xl[k]; }
    for (let k = 0; k < n; k += 5) {
      const to = code[k + 1], i = code[k + 2], j = code[k + 3];
      switch (code[k]) {
        case ADD: addPairs(h[i], l[i], h[j], l[j]); break;
        case SUBTRACT: addPairs(h[i], l[i], -h[j], -l[j]); break;
        case MULTIPLY: multiplyPairs(h[i], l[i], h[j], l[j]); break;
        case DIVIDE: if (h[j] === 0) dividePairs(h[i], l[i], 1e-280, 0); else dividePairs(h[i], l[i], h[j], l[j]); break;
        case SQRT: rootOfPair(h[i], l[i]); break;
        case SELECT: { const from = h[i] > 0 ? j : code[k + 4]; H = h[from]; L = l[from]; break; }
        case NONZERO: if (h[i] === 0) { H = 1e-280; L = 0; } else { H = h[i]; L = l[i]; } break;
        default: throw new Error(`operation ${code[k]} is none of pairs`);
      }
      h[to] = H; l[to] = L;
    }
    for (let k = 0; k < this.outputs.length; k++) {
      fh[k] = h[this.outputs[k]] * this.signs[k];
      fl[k] = l[this.outputs[k]] * this.signs[k];
    }
  }
}

// ---------------------------------------------------------------- double-double: results are left in H + L

let H = 0, L = 0;
const SPLITTER = 134217729; // 2^27 + 1

function addPairs(ah, al, bh, bl) {
  let s = ah + bh, v = s - ah, e = (ah - (s - v)) + (bh - v);
  const t = al + bl;
  v = t - al;
  const f = (al - (t - v)) + (bl - v);
  e += t;
  v = s + e; e = e - (v - s); s = v;
  e += f;
  H = s + e; L = e - (H - s);
}

function multiplyPairs(ah, al, bh, bl) {
  const p = ah * bh;
  let t = SPLITTER * ah;
  const a1 = t - (t - ah), a2 = ah - a1;
  t = SPLITTER * bh;
  const b1 = t - (t - bh), b2 = bh - b1;
  const e = (((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2) + (ah * bl + al * bh);
  H = p + e; L = e - (H - p);
}

function dividePairs(ah, al, bh, bl) {
  const first = ah / bh;
  multiplyPairs(bh, bl, first, 0);
  addPairs(ah, al, -H, -L);
  const rh = H, rl = L, second = rh / bh;
  multiplyPairs(bh, bl, second, 0);
  addPairs(rh, rl, -H, -L);
  const third = H / bh, s = first + second, e = (second - (s - first)) + third;
  H = s + e; L = e - (H - s);
}

function rootOfPair(ah, al) {
  if (!(ah > 0)) { H = 0; L = 0; return; }
  const root = Math.sqrt(ah);
  multiplyPairs(root, 0, root, 0);
  addPairs(ah, al, -H, -L);
  const e = H / (2 * root);
  H = root + e; L = e - (H - root);
}

/** The sum of a series in `x`, its coefficients in pairs. */
function seriesOfPair(rows, xh, xl) {
  let h = rows[rows.length - 1][0], l = rows[rows.length - 1][1];
  for (let k = rows.length - 2; k >= 0; k--) {
    multiplyPairs(h, l, xh, xl);
    addPairs(H, L, rows[k][0], rows[k][1]);
    h = H; l = L;
  }
}

/** `x - k period` with the period in three parts. */
function lessPeriods(xh, xl, k, parts) {
  let h = xh, l = xl;
  for (const part of parts) {
    multiplyPairs(k, 0, part, 0);
    addPairs(h, l, -H, -L);
    h = H; l = L;
  }
}

/** Sine, cosine (pairs) and floor(2 x/pi) of x >= 0 from one reduction, as five numbers into `found` at `at`. */
function circularOfPair(xh, xl, found, at) {
  const k = Math.round(xh * HALF_PI[0]);
  lessPeriods(xh, xl, k, HALF_PI[1]);
  const rh = H, rl = L;
  multiplyPairs(rh, rl, rh, rl);
  const zh = H, zl = L;
  seriesOfPair(SERIES.sin, zh, zl);
  multiplyPairs(H, L, rh, rl);
  const sh = H, sl = L;
  seriesOfPair(SERIES.cos, zh, zl);
  const ch = H, cl = L, q = ((k % 4) + 4) % 4, odd = q % 2 === 1;
  const s = q >= 2 ? -1 : 1, c = q === 1 || q === 2 ? -1 : 1;
  found[at] = s * (odd ? ch : sh); found[at + 1] = s * (odd ? cl : sl);
  found[at + 2] = c * (odd ? sh : ch); found[at + 3] = c * (odd ? sl : cl);
  found[at + 4] = rh < 0 ? k - 1 : k;
}

/** exp(-x) of a pair x >= 0. */
function decayOfPair(xh, xl) {
  if (!(xh <= 700)) { H = xh > 700 ? 0 : NaN; L = 0; return; }
  const k = Math.round(xh * LOG_2[0]), scale = 0.5 ** EXP_HALVINGS;
  lessPeriods(xh, xl, k, LOG_2[1]);
  seriesOfPair(SERIES.exp, -H * scale, -L * scale);
  for (let i = 0; i < EXP_HALVINGS; i++) multiplyPairs(H, L, H, L);
  const power = 2 ** -k;
  H *= power; L *= power;
}

// ---------------------------------------------------------------- functions in float64

/** As `circularOfPair`: sine, cosine and floor(2 x/pi) into `found` at `at`. */
function circular(x, found, at) {
  const k = Math.floor(x * (1 / Math.PI) + 0.5);
  let r = x;
  for (const part of PI) r -= k * part;
  const z = r * r, sign = k % 2 === 0 ? 1 : -1;
  let s = SIN[SIN.length - 1], c = COS[COS.length - 1];
  for (let i = SIN.length - 2; i >= 0; i--) s = s * z + SIN[i];
  for (let i = COS.length - 2; i >= 0; i--) c = c * z + COS[i];
  found[at] = sign * (r + r * z * s);
  found[at + 1] = sign * Math.max(1 - 0.5 * z + z * z * c, 1e-18);
  found[at + 2] = r < 0 ? 2 * k - 1 : 2 * k;
}

function sinhRatio(z) {
  const x = Math.min(Math.max(z, 0), 0.25);
  let total = SINH_RATIO[SINH_RATIO.length - 1];
  for (let i = SINH_RATIO.length - 2; i >= 0; i--) total = total * x + SINH_RATIO[i];
  return total;
}

/** A product of complex numbers, its size apart. */
class Product {
  constructor() {
    Object.assign(this, { re: 1, im: 0, log: 0 });
  }

  times(re, im) {
    const size = Math.hypot(re, im), { re: a, im: b } = this;
    this.re = (a * re - b * im) / size;
    this.im = (a * im + b * re) / size;
    this.log += Math.log(size);
  }
}
