// The solver of the page: runs the tapes of an arm, counts, encloses frequencies, draws shapes.
// Formulas come as tapes from the library; here are the arithmetic that they run in, the loop over the links, the search.

// @generated constants

const CODE = Object.fromEntries(OPERATIONS.map((name, k) => [name, k]));
const {
  add: ADD, subtract: SUBTRACT, multiply: MULTIPLY, divide: DIVIDE, sqrt: SQRT, select: SELECT, nonzero: NONZERO,
  where: WHERE, less: LESS, less_equal: LESS_EQUAL, equal: EQUAL, and: AND, or: OR, xor: XOR, not: NOT,
  negative: NEGATIVE, absolute: ABSOLUTE, sign: SIGN, floor: FLOOR, is_finite: IS_FINITE, maximum: MAXIMUM,
  minimum: MINIMUM, root: ROOT, sine: SINE, cosine: COSINE, quotient: QUOTIENT, power: POWER, arctangent: ARCTANGENT,
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

// ---------------------------------------------------------------- an arm

const WAVES = 13, FUNCTIONS = 8, STIFFNESS = 6, BEFORE_WAVES = 9;
const Z1 = 4, ALPHA = 5, BETA = 6, MU = 9; // places among the wave numbers
const MASS = 7, RIGIDITY = 5; // places among the constants of a member

const numbers = (values) => Float64Array.from(values, Number);

/** The arm of a text that `arm_json` of the library wrote. */
export function loadArm(json) {
  const written = typeof json === "string" ? JSON.parse(json) : json;
  if (!written || written.format !== FORMAT) {
    throw new Error(`the arm was written in the format ${written && written.format}; this solver reads ${FORMAT}. Write page and arm with one version.`);
  }
  const pair = (both) => ({ float64: new Tape(both.float64), double: new Tape(both.double || both.float64) });
  const tapes = { beams: new Tape(written.beams), constants: new Tape(written.constants), share: new Tape(written.share) };
  for (const name of ["member", "rotor", "waves", "link"]) tapes[name] = pair(written[name]);
  tapes.noise = { float64: new Tape(written.noise.float64), double: new Tape(written.noise.double_double) };
  tapes.shape = { float64: null, double: new Tape(written.shape_link) };
  tapes.joint = new Tape(written.joint);
  tapes.piece = new Tape(written.piece);
  return withValues({ written, tapes }, numbers(written.values));
}

/** The arm with another value, in SI units, at an address such as "link2.length"; "link*.length" sets that of all. */
export function setValue(arm, address, value) {
  const { addresses, aliases } = arm.written;
  const theta = /^theta_([1-9][0-9]*)$/.exec(address);
  const full = theta ? `link${theta[1]}.joint_angle` : aliases[address] || address;
  const names = full.startsWith("link*.")
    ? addresses.filter((name) => name.replace(/^link[0-9]+\./, "link*.") === full)
    : addresses.filter((name) => name === full);
  if (names.length === 0) throw new Error(`${address} is no value of this arm; it has ${addresses.join(", ")}.`);
  if (typeof value !== "number" || Number.isNaN(value)) throw new Error(`${address} = ${value}: must be a number.`);
  const values = arm.values.slice();
  for (const name of names) values[addresses.indexOf(name)] = value;
  const changed = withValues(arm, values);
  if (changed.invalid) throw new Error(`${address} = ${value}: no arm can have this value, see the page on arm files.`);
  return changed;
}

function withValues(arm, values) {
  const { written, tapes } = arm, n = written.links, found = new Float64Array(tapes.beams.outputs.length);
  tapes.beams.run(values, found);
  const beams = [];
  for (let i = 0; i < n; i++) beams.push(Float64Array.from(written.fields, (_, k) => found[k * n + i]));
  const scale = found[found.length - 2], invalid = found[found.length - 1] !== 0;
  const changed = { written, tapes, values, beams, scale, invalid };
  changed.links = beams.map((beam) => linkOf(changed, beam));
  return changed;
}

/** A link from its fields: constants in both kinds of numbers, features among them. */
function linkOf(arm, beam) {
  const { written, tapes } = arm, given = new Float64Array(tapes.constants.outputs.length);
  tapes.constants.run(beam, given);
  const own = written.features.filter((name) => !ROTOR.includes(name) && !GROUND.includes(name));
  const at = { fixed: 8, angle: 13, features: 14, rotor: 14 + own.length };
  const geared = written.features.includes(ROTOR[0]);
  const link = { flexible: 1, angle: given[at.angle], beam };
  for (const kind of ["float64", "double"]) {
    const hi = {}, lo = {};
    const member = new Float64Array(8), rest = new Float64Array(8), zeros = new Float64Array(16);
    const run = (tape, x, h, l) => { if (kind === "double") tape.double.runPairs(x, zeros, h, l); else tape.float64.run(x, h); };
    run(tapes.member, given.subarray(0, 8), member, rest);
    own.forEach((name, k) => { hi[name] = given[at.features + k]; lo[name] = 0; });
    let next = at.rotor;
    if (geared) {
      const h = new Float64Array(3), l = new Float64Array(3);
      run(tapes.rotor, given.subarray(next, next + 2), h, l);
      ROTOR.forEach((name, k) => { hi[name] = h[k]; lo[name] = l[k]; });
      next += 2;
    }
    const turned = (angle) => {
      const t = new Float64Array(5), s = angle < 0 ? -1 : 1;
      if (kind === "double") { circularOfPair(Math.abs(angle), 0, t, 0); return [s * t[0], s * t[1], t[2], t[3]]; }
      circular(Math.abs(angle), t, 0);
      return [s * t[0], 0, t[1], 0];
    };
    const turn = turned(link.angle);
    if (written.features.includes(GROUND[0])) {
      const g = turned(given[next]);
      hi[GROUND[0]] = g[0]; lo[GROUND[0]] = g[1]; hi[GROUND[1]] = g[2]; lo[GROUND[1]] = g[3];
    }
    const fixed = [...given.subarray(8, 13)];
    link[kind] = {
      memberHi: member, memberLo: rest, featuresHi: hi, featuresLo: lo,
      fixedHi: Float64Array.from([...fixed, turn[0], turn[2]]),
      fixedLo: Float64Array.from([0, 0, 0, 0, 0, turn[1], turn[3]]),
    };
    if (hi.flexible !== undefined) link.flexible = hi.flexible;
  }
  return link;
}

/** The same arm with links cut into parts; `shares` gives those of each link. */
function cutArm(arm, shares) {
  const { fields, inner, outer } = arm.written, links = [], length = fields.indexOf("length");
  arm.beams.forEach((beam, i) => {
    const parts = shares(i);
    parts.forEach((share, p) => {
      const part = beam.slice();
      part[length] *= share;
      fields.forEach((name, k) => {
        if (p > 0 && name in inner) part[k] = Number(inner[name]);
        if (p < parts.length - 1 && outer.includes(name)) part[k] = 0;
      });
      links.push(linkOf(arm, part));
    });
  });
  return { ...arm, links };
}

// ---------------------------------------------------------------- determinant and count at one frequency

const xh = new Float64Array(256), xl = new Float64Array(256), fh = new Float64Array(128), fl = new Float64Array(128);
const wh = new Float64Array(16), wl = new Float64Array(16), gh = new Float64Array(FUNCTIONS), gl = new Float64Array(FUNCTIONS);
const sixH = new Float64Array(6), sixL = new Float64Array(6), turns = new Float64Array(16), shares = new Float64Array(8), few = new Float64Array(3);

/** Wave numbers and functions of a link into wh, wl, gh, gl; whole turns into `turns` at 12. */
function functionsOf(arm, link, omega, kind) {
  const own = link[kind];
  xh[0] = omega; xl[0] = 0;
  xh.set(own.memberHi, 1); xl.set(own.memberLo, 1);
  if (kind === "float64") {
    arm.tapes.waves.float64.run(xh, wh);
    gh[0] = Math.exp(-wh[ALPHA]); gh[1] = sinhRatio(wh[Z1]);
    for (let k = 0; k < 3; k++) {
      circular(0.5 * wh[k === 0 ? ALPHA : k === 1 ? BETA : MU], turns, 0);
      gh[2 + 2 * k] = turns[0]; gh[3 + 2 * k] = turns[1]; turns[12 + k] = turns[2];
    }
    return;
  }
  arm.tapes.waves.double.runPairs(xh, xl, wh, wl);
  decayOfPair(wh[ALPHA], wl[ALPHA]);
  gh[0] = H; gl[0] = L;
  if (wh[Z1] >= 0 && wh[Z1] <= 0.25) seriesOfPair(SERIES.sinh_ratio, wh[Z1], wl[Z1]); else { H = 1; L = 0; }
  gh[1] = H; gl[1] = L;
  for (let k = 0; k < 3; k++) {
    const at = k === 0 ? ALPHA : k === 1 ? BETA : MU;
    circularOfPair(0.5 * wh[at], 0.5 * wl[at], turns, 0);
    gh[2 + 2 * k] = turns[0]; gl[2 + 2 * k] = turns[1]; gh[3 + 2 * k] = turns[2]; gl[3 + 2 * k] = turns[3];
    turns[12 + k] = turns[4];
  }
}

/** The link added to the stiffness in sixH, sixL; results into fh, fl, and that stiffness is replaced. */
function addLink(arm, link, omega, kind, tape, features) {
  functionsOf(arm, link, omega, kind);
  const own = link[kind], pairs = kind === "double";
  xh[0] = own.fixedHi[0]; xh[1] = arm.written.axial; xh[2] = omega;
  for (let k = 1; k < 7; k++) xh[2 + k] = own.fixedHi[k];
  xh.set(wh.subarray(0, WAVES), BEFORE_WAVES); xh.set(gh, BEFORE_WAVES + WAVES);
  xh.set(sixH, BEFORE_WAVES + WAVES + FUNCTIONS);
  const start = BEFORE_WAVES + WAVES + FUNCTIONS + STIFFNESS;
  for (let k = 0; k < features.length; k++) xh[start + k] = own.featuresHi[features[k]];
  if (pairs) {
    xl[0] = own.fixedLo[0]; xl[1] = 0; xl[2] = 0;
    for (let k = 1; k < 7; k++) xl[2 + k] = own.fixedLo[k];
    xl.set(wl.subarray(0, WAVES), BEFORE_WAVES); xl.set(gl, BEFORE_WAVES + WAVES);
    xl.set(sixL, BEFORE_WAVES + WAVES + FUNCTIONS);
    for (let k = 0; k < features.length; k++) xl[start + k] = own.featuresLo[features[k]];
    tape.double.runPairs(xh, xl, fh, fl);
    for (let k = 0; k < 6; k++) { sixH[k] = fh[k]; sixL[k] = fl[k]; }
  } else {
    tape.float64.run(xh, fh);
    for (let k = 0; k < 6; k++) sixH[k] = fh[k];
  }
}

/** Sign and logarithm of the determinant, count of modes below, what is rounded. */
function evaluate(arm, omega, kind) {
  const { tapes, links, written } = arm, at = Math.max(omega, RESOLVED[kind] * (Number.isFinite(arm.scale) ? arm.scale : 0));
  sixH.fill(0); sixL.fill(0);
  let sign = 1, log = 0, count = 0, noise = 0, last = 0, shaken = 0;
  const results = tapes.link[kind].outputs.length;
  for (let i = links.length - 1; i >= 0; i--) {
    addLink(arm, links[i], at, kind, tapes.link, written.features);
    for (let k = 0; k < results; k++) xh[k] = fh[k];
    xh[results] = wh[Z1]; xh[results + 1] = wh[ALPHA];
    for (let k = 0; k < 3; k++) xh[results + 2 + k] = turns[12 + k];
    xh[results + 5] = at; xh[results + 6] = links[i].flexible;
    tapes.share.run(xh, shares);
    sign *= Math.sign(shares[0]);
    log += Math.log(Math.abs(shares[0])) + shares[1];
    count += shares[2];
    noise += last + shares[4];
    last = shares[3];
    shaken = shares[5];
  }
  few[0] = noise; few[1] = last; few[2] = shaken;
  tapes.noise[kind].run(few, shares);
  return { omega: at, sign, log, count, noise: shares[0] };
}

// ---------------------------------------------------------------- the search

const agrees = (e) => e.sign !== 0 && (e.sign > 0) === (e.count % 2 === 0);

/** A root of the determinant between two ends with one mode between them, or as near as counts enclose it. */
function enclose(value, lower, upper, mode, width, most) {
  let guess = NaN, before = Infinity;
  for (let round = 0; round < most && upper.omega - lower.omega > width * upper.omega; round++) {
    const a = lower.omega, b = upper.omega, single = lower.count === mode - 1 && upper.count === mode;
    let at = b > 4 * a ? Math.sqrt(a * b) : 0.5 * (a + b);
    if (single && lower.sign * upper.sign < 0 && b < 4 * a && round % 3 !== 2) {
      const share = 1 / (1 + Math.exp((upper.log + (upper.weight || 0)) - (lower.log + (lower.weight || 0))));
      const t = a + share * (b - a);
      if (Number.isFinite(t)) {
        // aside by a little, so that the ends close in from both sides
        const least = Math.max(0.3 * width * b, Math.min(1e-3 * Math.abs(t - guess), 0.1 * (b - a)) || 0);
        at = Math.min(Math.max(t + (lower.closed ? least : -least), a + 0.25 * width * b), b - 0.25 * width * b);
        guess = t;
      }
    }
    if (!(at > a && at < b)) break;
    const e = value(at);
    e.omega = at;
    const size = b - a;
    if (e.count >= mode) { if (upper.closed) lower.weight = (lower.weight || 0) - Math.LN2; e.closed = true; lower.closed = false; upper = e; }
    else { if (lower.closed) upper.weight = (upper.weight || 0) - Math.LN2; e.closed = true; upper.closed = false; lower = e; }
    before = size;
  }
  const single = lower.count === mode - 1 && upper.count === mode && lower.sign * upper.sign < 0;
  const share = single ? 1 / (1 + Math.exp(upper.log - lower.log)) : 0.5;
  const omega = lower.omega + (Number.isFinite(share) ? share : 0.5) * (upper.omega - lower.omega);
  return { omega, lower, upper };
}

/** Modes of frequency zero: those below all that the stiffness of links can hold. */
const zeroModes = (arm) => evaluate(arm, 1e-10 * arm.scale, "double").count;

/** The lowest `nModes` frequencies, rad/s, each with the ends that enclose it and whether counts certify it. */
export function frequencies(arm, nModes) {
  if (!Number.isInteger(nModes) || nModes < 1 || nModes > 1000) throw new Error(`nModes = ${nModes}: must be a whole number from 1 to 1000.`);
  const omega = new Float64Array(nModes), certified = new Uint8Array(nModes), lower = new Float64Array(nModes), upper = new Float64Array(nModes);
  const multiplicity = new Uint32Array(nModes).fill(1);
  const zeros = zeroModes(arm), points = [];
  const value = (at) => {
    const e = evaluate(arm, at, "float64");
    const place = points.findIndex((p) => p.omega > at);
    if (place < 0) points.push(e); else points.splice(place, 0, e);
    return e;
  };
  let top = arm.scale;
  for (let k = 0; k < 200 && !(value(top).count >= nModes); k++) top *= 2;
  let bottom = arm.scale;
  for (let k = 0; k < 60 && !(value(bottom).count <= zeros); k++) bottom *= 0.25;
  const open = [];
  for (let mode = zeros + 1; mode <= nModes; mode++) {
    let low = points[0], high = points[points.length - 1];
    for (const p of points) if (p.count < mode) low = p; else break;
    for (let k = points.length - 1; k >= 0; k--) if (points[k].count >= mode) high = points[k]; else break;
    const found = enclose(value, { ...low, closed: false, weight: 0 }, { ...high, closed: false, weight: 0 }, mode, 1e-12, 60);
    omega[mode - 1] = found.omega;
    // in float64, as far from the mode as rounding can move it and no farther than 4e-10
    const near = evaluate(arm, found.omega, "float64"), aside = Math.max(2e-11, 4 * CERTAIN * near.noise);
    const a = aside <= 4e-10 && evaluate(arm, found.omega * (1 - aside), "float64");
    const b = a && evaluate(arm, found.omega * (1 + aside), "float64");
    if (b && a.count === mode - 1 && b.count === mode && agrees(a) && agrees(b) && CERTAIN * Math.max(a.noise, b.noise) < 0.5 * aside) {
      certified[mode - 1] = 1; lower[mode - 1] = a.omega; upper[mode - 1] = b.omega;
    } else open.push(mode);
  }
  for (const mode of open) omega[mode - 1] = inPairs(arm, omega[mode - 1], mode).omega;
  for (let k = zeros + 1; k < nModes; k++) omega[k] = Math.max(omega[k], omega[k - 1]);
  confirm(arm, zeros, open, omega, certified, lower, upper, multiplicity);
  // modes of frequency zero are counted, and certified with the first that is none
  for (let k = 0; k < Math.min(zeros, nModes); k++) {
    certified[k] = zeros < nModes ? certified[zeros] : 1;
    multiplicity[k] = zeros;
  }
  return { omega, certified, lower, upper, multiplicity };
}

/** A mode enclosed in double-double, from where float64 has it. */
function inPairs(arm, guess, mode) {
  const value = (at) => evaluate(arm, at, "double");
  let a, b;
  for (let d = 1e-11; d < 1; d *= 100) if ((a = value(guess * (1 - d))).count < mode) break;
  for (let d = 1e-11; d < 100; d *= 100) if ((b = value(guess * (1 + d))).count >= mode) break;
  return enclose(value, a, b, mode, 4 * EPS, 120);
}

/** Counts at 1e-12 beside each open group of frequencies, or half-way to the next; by cut links where they fail. */
function confirm(arm, zeros, open, omega, certified, lower, upper, multiplicity) {
  const n = omega.length;
  let cut = null, otherwise = false;
  for (let first = zeros; first < n;) {
    let last = first;
    while (last + 1 < n && omega[last + 1] - omega[last] <= TOLERANCE * omega[last + 1]) last++;
    if (open.some((mode) => mode - 1 >= first && mode - 1 <= last)) {
      const before = first > zeros ? omega[first - 1] : 0, after = last + 1 < n ? omega[last + 1] : Infinity;
      const below = Math.max(omega[first] * (1 - TOLERANCE), 0.5 * (before + omega[first]));
      const above = Math.min(omega[last] * (1 + TOLERANCE), 0.5 * (omega[last] + after));
      const proved = (model) => {
        const a = evaluate(model, below, "double"), b = evaluate(model, above, "double");
        const clear = CERTAIN * a.noise * omega[first] < 0.5 * (omega[first] - below) && CERTAIN * b.noise * omega[last] < 0.5 * (above - omega[last]);
        for (let k = first; k <= last; k++) multiplicity[k] = Math.max(1, b.count - a.count);
        return a.count <= first && b.count >= last + 1 && agrees(a) && agrees(b) && clear;
      };
      let sure = proved(arm);
      if (!sure && !otherwise) {
        // where the formulas of the links lose their digits, those of their parts do not
        cut = cut || cutArm(arm, (i) => sharesOf(arm, i));
        for (let k = first; k <= last; k++) omega[k] = inPairs(cut, omega[k], k + 1).omega;
        otherwise = true;
        continue;
      }
      if (!sure) sure = proved(cut);
      otherwise = false;
      for (let k = first; k <= last; k++) { certified[k] = sure ? 1 : 0; lower[k] = below; upper[k] = above; }
    }
    first = last + 1;
  }
}

/** How many natural frequencies lie below `omega`, rad/s; in double-double, by cut links where those say more. */
export function countBelow(arm, omega) {
  const e = evaluate(arm, omega, "double");
  if (CERTAIN * e.noise <= 1e-15) return e.count;
  const other = evaluate(cutArm(arm, (i) => sharesOf(arm, i)), omega, "double");
  return other.noise < e.noise ? other.count : e.count;
}

const sharesOf = (arm, i) => { const s = arm.written.shares[i % arm.written.shares.length]; return [s, 1 - s]; };

// ---------------------------------------------------------------- shapes

/** A stub: a rigid piece without length and mass, which holds what is at one end of a link. */
function stubOf(arm, beam, atBase) {
  const { fields, inner, outer } = arm.written, part = beam.slice();
  fields.forEach((name, k) => {
    if (atBase && outer.includes(name)) part[k] = 0;
    if (!atBase && name in inner) part[k] = Number(inner[name]);
  });
  const stub = linkOf(arm, part), own = stub.double;
  own.fixedHi[0] = 0;
  for (const k of [MASS, RIGIDITY]) { own.memberHi[k] = 0; own.memberLo[k] = 0; }
  own.featuresHi.flexible = 0; own.featuresLo.flexible = 0;
  for (const way of ["x", "y", "turn"]) { // a rigid support is a spring 1e14 times as stiff as the link
    if (own.featuresHi[`support_${way}_unit`] !== 0) continue;
    own.featuresHi[`support_${way}_unit`] = 1;
    own.featuresHi[`support_${way}_spring`] *= 1e14;
  }
  return stub;
}

/** The stub at a base as if its joint were rigid and straight. */
function withoutJoint(stub) {
  const own = stub.double, hi = { ...own.featuresHi }, lo = { ...own.featuresLo };
  const neutral = { axial_unit: 1, axial_compliance: 0, shear_unit: 1, shear_compliance: 0, carried_inertia: 0 };
  for (const name of Object.keys(neutral)) if (hi[name] !== undefined) { hi[name] = neutral[name]; lo[name] = 0; }
  const fixedHi = own.fixedHi.slice(), fixedLo = own.fixedLo.slice();
  fixedHi.set([1, 0, 0, 1], 3); fixedLo.set([0, 0, 0, 0], 3);
  return { ...stub, double: { ...own, featuresHi: hi, featuresLo: lo, fixedHi, fixedLo } };
}

/** A motion seen from (x, y): u - y psi, v + x psi; in place. */
function seenFrom(dh, dl, x, y) {
  multiplyPairs(-(y || 0), 0, dh[2], dl[2]); addPairs(dh[0], dl[0], H, L); dh[0] = H; dl[0] = L;
  multiplyPairs(x || 0, 0, dh[2], dl[2]); addPairs(dh[1], dl[1], H, L); dh[1] = H; dl[1] = L;
}

/** The stiffness that an arm answers with at a joint, and along which motion. */
function answer(arm, i, before) {
  const length = arm.beams[i][arm.written.fields.indexOf("length")];
  const sizes = [Math.abs(before[0]), Math.abs(before[3]), Math.abs(before[5]) / (length * length)];
  const largest = Math.max(...sizes);
  return { size: largest, direction: sizes.indexOf(largest) };
}

/**
 * Where the mode starts, the joint of link `i`, and how that moves: the base as the spring below lets it, or, where it is
 * held, by next to nothing. Modes of outer links alone, beyond a rigid support, start at the joint that answers to them:
 * beyond measure beside `aside`, its stiffness next to the mode.
 */
function startOf(arm, first, kept, aside) {
  const loose = looseBase(first.double.featuresHi, kept[0].before);
  if (loose) return { i: 0, motion: loose };
  const answers = kept.map(({ before }, i) => answer(arm, i, before));
  const ratios = answers.map(({ size }, i) => size / answer(arm, i, aside[i].before).size);
  const held = first.double.featuresHi.foundation_xx === undefined;
  const i = held && ratios[0] > 1e4 ? 0 : ratios.indexOf(Math.max(...ratios));
  if (!(ratios[i] > 1e2)) throw new Error("no joint feels this mode, so that its shape cannot be drawn from there.");
  return { i, motion: [0, 1, 2].map((k) => (k === answers[i].direction ? 1 : 0)) };
}

/** How an elastic base moves in the mode; null where there is none, or where it stands still. */
function looseBase(f, [uu, uv, up, vv, vp, pp]) {
  if (f.foundation_xx === undefined) return null;
  const s = [f.foundation_x_scale, f.foundation_y_scale, f.foundation_turn_scale];
  const rigid = [f.foundation_x_rigid, f.foundation_y_rigid, f.foundation_turn_rigid];
  const whole = [
    [uu + f.foundation_xx, uv + f.foundation_xy, up + f.foundation_xr],
    [uv + f.foundation_xy, vv + f.foundation_yy, vp + f.foundation_yr],
    [up + f.foundation_xr, vp + f.foundation_yr, pp + f.foundation_rr],
  ];
  const a = whole.map((row, i) => row.map((x, j) => s[i] * x * s[j] + (i === j ? rigid[i] : 0)));
  const cross = (p, q) => [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]];
  const columns = [cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])];
  const sizes = columns.map((c) => Math.hypot(...c)), size = Math.max(...sizes);
  const motion = columns[sizes.indexOf(size)].map((x) => x / size);
  const left = Math.hypot(...a.map((row) => row[0] * motion[0] + row[1] * motion[1] + row[2] * motion[2]));
  const terms = Math.hypot(...a.map((row) => Math.hypot(row[0] * motion[0], row[1] * motion[1], row[2] * motion[2])));
  return left < 1e-6 * terms ? motion.map((x, i) => x * s[i]) : null;
}

/** The mode at `omega` to the last digits, and how many there are within 1e-13. */
function modeAt(given, omega) {
  const clear = CERTAIN * evaluate(given, omega, "double").noise <= 1e-15;
  const arm = clear ? given : cutArm(given, (i) => sharesOf(given, i));
  for (const aside of [1e-14, 1e-13, 1e-11, 1e-9, 1e-7]) {
    const a = evaluate(arm, omega * (1 - aside), "double"), b = evaluate(arm, omega * (1 + aside), "double");
    if (b.count <= a.count) continue;
    const found = enclose((at) => evaluate(arm, at, "double"), a, b, a.count + 1, 4 * EPS, 120);
    return { exact: found.omega, multiplicity: aside <= 1e-13 ? b.count - a.count : 1 };
  }
  throw new Error(`omega = ${omega}: no natural frequency of this arm; take one that frequencies() has returned.`);
}

/** The stiffness outboard of every piece, beyond the springs of every joint, and before them. */
function inward(arm, chains, omega, pieces) {
  sixH.fill(0); sixL.fill(0);
  const names = arm.written.shape_features, tape = { double: arm.tapes.shape.double };
  const kept = [], keep = () => [sixH.slice(), sixL.slice()];
  for (let i = chains.length - 1; i >= 0; i--) {
    const chain = chains[i], outboard = new Array(pieces);
    addLink(arm, chain.end, omega, "double", tape, names);
    for (let p = pieces - 1; p >= 0; p--) {
      outboard[p] = keep();
      addLink(arm, chain.piece, omega, "double", tape, names);
    }
    const [h, l] = keep();
    addLink(arm, chain.straight, omega, "double", tape, names);
    const beyond = keep();
    sixH.set(h); sixL.set(l);
    addLink(arm, chain.start, omega, "double", tape, names);
    kept[i] = { outboard, beyond, before: keep()[0] };
  }
  return kept;
}

/**
 * The mode at `omega`, which must be one of the frequencies: points of each link, `x0, y0` at rest, displacements
 * `u, v` in the axes of the ground, the largest of size 1, and `x, y` = rest + `amplitude` times displacement. Of
 * `multiplicity` > 1 modes at one frequency it is one.
 */
export function shape(arm, omega, pointsPerLink) {
  if (!Number.isInteger(pointsPerLink) || pointsPerLink < 2 || pointsPerLink > 500) throw new Error(`pointsPerLink = ${pointsPerLink}: must be a whole number from 2 to 500.`);
  if (!(omega > 1e-9 * arm.scale)) throw new Error(`omega = ${omega}: a mode of frequency zero is a motion without strain, which has no shape here.`);
  const { exact, multiplicity } = modeAt(arm, omega);
  const { fields, inner, outer } = arm.written, n = arm.beams.length, pieces = pointsPerLink - 1;
  const lengthAt = fields.indexOf("length"), chains = arm.beams.map((beam, i) => {
    const part = beam.slice();
    part[lengthAt] /= pieces;
    fields.forEach((name, k) => {
      if (name in inner) part[k] = Number(inner[name]); else if (outer.includes(name)) part[k] = 0;
    });
    const piece = linkOf(arm, part);
    piece.double.featuresHi.flexible = arm.links[i].flexible; piece.double.featuresLo.flexible = 0;
    const start = stubOf(arm, beam, true);
    return { start, straight: withoutJoint(start), piece, end: stubOf(arm, beam, false) };
  });
  const kept = inward(arm, chains, exact, pieces), aside = inward(arm, chains, exact * (1 + 1e-4), pieces);
  // outward: how everything moves
  const begin = startOf(arm, chains[0].start, kept, aside), dh = new Float64Array(3), dl = new Float64Array(3), next = new Float64Array(3), rest = new Float64Array(3);
  const found = { x: [], y: [], x0: [], y0: [], u: [], v: [] };
  let angle = 0, px = 0, py = 0;
  for (let i = 0; i < n; i++) {
    if (i === begin.i) dh.set(begin.motion);
    const { start, piece, end } = chains[i], own = start.double, f = own.featuresHi, l = own.featuresLo;
    const [beyondHi, beyondLo] = kept[i].beyond;
    const law = [f.axial_unit ?? 1, f.axial_compliance ?? 0, f.shear_unit ?? 1, f.shear_compliance ?? 0];
    xh.set(beyondHi); xl.set(beyondLo);
    xh.set([own.fixedHi[3], own.fixedHi[4], ...law, f.relative_inertia ?? 0, exact, own.fixedHi[5], own.fixedHi[6], ...dh], 6);
    xl.set([0, 0, 0, 0, 0, 0, l.relative_inertia ?? 0, 0, own.fixedLo[5], own.fixedLo[6], ...dl], 6);
    arm.tapes.joint.runPairs(xh, xl, dh, dl);
    seenFrom(dh, dl, f.base_offset_x, f.base_offset_y);
    angle += start.angle;
    const c = Math.cos(angle), s = Math.sin(angle), step = piece.double.fixedHi[0];
    px += c * (f.base_offset_x || 0) - s * (f.base_offset_y || 0);
    py += s * (f.base_offset_x || 0) + c * (f.base_offset_y || 0);
    const row = Object.fromEntries(Object.keys(found).map((name) => [name, new Float64Array(pointsPerLink)]));
    const put = (p) => {
      row.x0[p] = px + c * p * step; row.y0[p] = py + s * p * step;
      row.u[p] = c * dh[0] - s * dh[1]; row.v[p] = s * dh[0] + c * dh[1];
    };
    put(0);
    for (let p = 0; p < pieces; p++) {
      functionsOf(arm, piece, exact, "double");
      const [outH, outL] = kept[i].outboard[p];
      xh.set([step, arm.written.axial, piece.double.featuresHi.flexible]); xl.fill(0, 0, 3);
      xh.set(wh.subarray(0, WAVES), 3); xl.set(wl.subarray(0, WAVES), 3);
      xh.set(gh, 3 + WAVES); xl.set(gl, 3 + WAVES);
      xh.set(outH, 3 + WAVES + FUNCTIONS); xl.set(outL, 3 + WAVES + FUNCTIONS);
      xh.set(dh, 9 + WAVES + FUNCTIONS); xl.set(dl, 9 + WAVES + FUNCTIONS);
      arm.tapes.piece.runPairs(xh, xl, next, rest);
      dh.set(next); dl.set(rest);
      put(p + 1);
    }
    const e = end.double.featuresHi, ex = e.end_offset_x || 0, ey = e.end_offset_y || 0;
    seenFrom(dh, dl, ex, ey);
    px += c * (pieces * step + ex) - s * ey; py += s * (pieces * step + ex) + c * ey;
    for (const name of Object.keys(found)) found[name].push(row[name]);
  }
  return normalised(found, multiplicity);
}

/** The largest displacement is of size 1, its larger part positive. */
function normalised(found, multiplicity) {
  let size = 0, tied = 0, larger = 1, low = [Infinity, Infinity], high = [-Infinity, -Infinity];
  found.u.forEach((u, i) => u.forEach((a, p) => {
    const b = found.v[i][p], length = Math.hypot(a, b);
    size = Math.max(size, length);
    if (length > tied * (1 + 1e-9)) { tied = length; larger = Math.abs(a) > Math.abs(b) ? a : b; }
    [found.x0[i][p], found.y0[i][p]].forEach((x, k) => { low[k] = Math.min(low[k], x); high[k] = Math.max(high[k], x); });
  }));
  const factor = Math.sign(larger) / size, amplitude = 0.1 * Math.max(high[0] - low[0], high[1] - low[1]);
  found.u.forEach((u, i) => u.forEach((_, p) => {
    found.u[i][p] *= factor; found.v[i][p] *= factor;
    found.x[i][p] = found.x0[i][p] + amplitude * found.u[i][p];
    found.y[i][p] = found.y0[i][p] + amplitude * found.v[i][p];
  }));
  return { ...found, amplitude, multiplicity };
}
