// An arm in space under loads where it loses energy, in complex float64: its determinant, but for what springs at its ports do
// not change. As `response.receptance.under_loads` of the library. Matrices are pairs, of real and of imaginary parts.

const real = (a) => [a, new Float64Array(a.length)];
const both = (n) => [new Float64Array(n), new Float64Array(n)];
const flipped = (a, n, m) => a.map((part) => transposed(part, n, m));
const less = (a, b) => a.map((part, p) => part.map((x, k) => x - b[p][k]));
const even = (a, n) => a.map((part) => symmetric(part, n));

function product([a, b], [c, d], n, m, p) {
  const re = times(a, c, n, m, p), im = times(a, d, n, m, p), across = times(b, d, n, m, p), more = times(b, c, n, m, p);
  return [re.map((x, k) => x - across[k]), im.map((x, k) => x + more[k])];
}

/** The inverse of a matrix, which is spent; its determinant is a factor of `found`. */
function inverted(a, n, found) {
  const b = real(new Float64Array(n * n));
  for (let i = 0; i < n; i++) b[0][i * n + i] = 1;
  for (let k = 0; k < n; k++) {
    const size = (i) => Math.hypot(a[0][i * n + k], a[1][i * n + k]);
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (size(i) > size(pivot)) pivot = i;
    if (pivot !== k) {
      found?.times(-1, 0);
      for (const part of [...a, ...b]) for (let j = 0; j < n; j++) [part[k * n + j], part[pivot * n + j]] = [part[pivot * n + j], part[k * n + j]];
    }
    const c = a[0][k * (n + 1)], d = a[1][k * (n + 1)], square = c * c + d * d;
    found?.times(c, d);
    const row = (i, re, im, keep) => { // row i times `keep`, less row k times this number
      for (const [x, y] of [a, b]) for (let j = 0; j < n; j++) {
        const u = x[k * n + j], v = y[k * n + j], to = i * n + j;
        x[to] = keep * x[to] - (re * u - im * v);
        y[to] = keep * y[to] - (re * v + im * u);
      }
    };
    row(k, -c / square, d / square, 0);
    for (let i = 0; i < n; i++) if (i !== k && size(i) !== 0) row(i, a[0][i * n + k], a[1][i * n + k], 1);
  }
  return b;
}

/** A tape in complex numbers, from real parts of its inputs and imaginary ones, of which the last are 0. */
function runComplex(tape, x, y) {
  const size = tape.hi.length, { code, outputs, signs } = tape, re = tape.hi.slice(), im = new Float64Array(size);
  re.set(x); im.set(y);
  for (let k = 0; k < code.length; k += 5) {
    const to = code[k + 1], a = re[code[k + 2]], b = im[code[k + 2]], c = re[code[k + 3]], d = im[code[k + 3]];
    switch (code[k]) {
      case ADD: re[to] = a + c; im[to] = b + d; break;
      case SUBTRACT: re[to] = a - c; im[to] = b - d; break;
      case MULTIPLY: re[to] = a * c - b * d; im[to] = a * d + b * c; break;
      case DIVIDE: { const square = c * c + d * d; re[to] = (a * c + b * d) / square; im[to] = (b * c - a * d) / square; break; }
      case NONZERO: re[to] = a === 0 && b === 0 ? 1e-150 : a; im[to] = b; break;
      case NEGATIVE: re[to] = -a; im[to] = -b; break;
      default: throw new Error(`operation ${code[k]} is none of complex numbers`);
    }
  }
  return [re, im].map((part) => Float64Array.from(outputs, (at, k) => part[at] * signs[k]));
}

/** As `Beyond`: all that gives way is eliminated at once, but for the forces of rigid supports, whose compliances are `own`. */
class BeyondDamped {
  constructor(arm, losses) {
    Object.assign(this, { arm, losses, w: both(36), beside: both(0), own: both(0), held: 0, found: new Product() });
  }

  add(factor, matrix, lost = 0) {
    for (let k = 0; k < 36; k++) { this.w[0][k] += factor * matrix[k]; this.w[1][k] += lost * matrix[k]; }
  }

  at(k, stiffness) {
    this.w[0][k] += stiffness;
  }

  rigid(matrix) {
    this.carry(real(matrix));
  }

  carry(matrix) {
    const back = flipped(matrix, 6, 6);
    this.w = even(product(product(back, this.w, 6, 6, 6), matrix, 6, 6, 6), 6);
    this.beside = product(back, this.beside, 6, 6, this.held);
  }

  release(give) {
    const { held } = this, square = product(this.w, give, 6, 6, 6);
    for (let i = 0; i < 6; i++) square[0][7 * i] += 1;
    const back = inverted(square, 6, this.found), beside = product(back, this.beside, 6, 6, held);
    this.own = less(this.own, product(product(flipped(this.beside, 6, held), give, held, 6, 6), beside, held, 6, held));
    this.w = even(product(back, this.w, 6, 6, 6), 6);
    this.beside = beside;
  }

  base(stiffness) {
    const { loss } = this.losses, give = inverse(stiffness.slice(0, 36), 6), share = 1 / (1 + loss * loss);
    this.release([give.map((x) => x * share), give.map((x) => -loss * share * x)]);
  }

  transfers(arm, link, from, to, count, square) {
    const { at, own, loss, kept } = this.losses, [factor, time] = own ? arm.written.damping?.material[link] ?? [0, 0] : [0, 0], lost = loss + factor + at * time;
    if (time === 0) return transfersOf(arm, link, from, to, count, square, lost);
    const key = [link, from, to].join();
    if (!kept.has(key)) kept.set(key, transfersOf({ ...arm, once: true }, link, from, to, count, square, lost));
    return [...kept.get(key)];
  }

  piece(transfer) {
    const half = (row, column) => (transfer.length > 144 ? [transfer.subarray(0, 144), transfer.subarray(144)].map((part) => block(part, row, column)) : real(block(transfer, row, column)));
    const b = half(0, 6), back = inverted(half(6, 6), 6), stiffness = product(back, half(6, 0), 6, 6, 6);
    this.release(even(product(b, back, 6, 6, 6), 6));
    this.carry(less(half(0, 0), product(b, stiffness, 6, 6, 6)));
    const [re, im] = even(stiffness, 6);
    this.w[0].forEach((x, k) => { this.w[0][k] = x + re[k]; this.w[1][k] += im[k]; });
  }

  /** Supports at a tip; beside the force of a rigid one stands a spring, which nothing moves there. */
  supports(numbers, { names: { length: several }, first }) {
    const { loss } = this.losses;
    for (let m = 0; m < several; m++) {
      const d = numbers.slice(6 * m, 6 * m + 6), k = numbers[6 * several + m], n = this.held;
      if (k !== Infinity) { this.add(k, outer(d), loss * k); continue; }
      const beside = both(6 * (n + 1)), own = both((n + 1) ** 2);
      for (const p of [0, 1]) {
        for (let i = 0; i < 6; i++) for (let j = 0; j < n; j++) beside[p][i * (n + 1) + j] = this.beside[p][i * n + j];
        for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) own[p][i * (n + 1) + j] = this.own[p][i * n + j];
      }
      d.forEach((x, i) => { beside[0][i * (n + 1) + n] = x; });
      Object.assign(this, { beside, own, held: n + 1 });
      this.add(1 / (this.arm.rest.held.compliances[first + m] || Infinity), outer(d));
    }
  }

  joint(numbers, { link, names }, square, further) {
    const { at, own, loss } = this.losses, several = names.length, { held } = this, stiffness = numbers.subarray(6 * several, 7 * several);
    const given = [...stiffness.keys()].filter((j) => stiffness[j] !== Infinity), n = given.length, coupling = numbers.subarray(7 * several, 7 * several + 36), [inertia, ratio] = numbers.subarray(7 * several + 36);
    const turning = square * inertia, axis = numbers.subarray(6 * several - 6, 6 * several), spin = axis.map((x, i) => (i < 3 ? 0 : x));
    if (n > 0) {
      const directions = new Float64Array(6 * n), last = given.at(-1) === several - 1 ? n - 1 : -1;
      given.forEach((j, i) => directions.set(numbers.subarray(6 * j, 6 * j + 6), 6 * i));
      const acting = product(real(directions), this.w, n, 6, 6), whole = product(acting, real(transposed(directions, n, 6)), n, 6, n), coupled = times(directions, transposed(coupling, 6, 6), n, 6, 6);
      given.forEach((j, i) => {
        const damper = own ? this.arm.written.damping?.springs[`link${link + 1}.${names[j]}`] ?? 0 : 0;
        whole[0][i * (n + 1)] += stiffness[j] + (j === several - 1 ? further : 0);
        whole[1][i * (n + 1)] += stiffness[j] * loss + at * damper;
      });
      coupled.forEach((x, k) => { acting[0][k] += x; });
      if (last >= 0) {
        const give = ratio * spin.reduce((sum, x, i) => sum + x * axis[i], 0);
        whole[0][last * (n + 1)] -= turning * give * give;
        spin.forEach((x, i) => { acting[0][6 * last + i] -= turning * give * x; });
      }
      const across = product(real(directions), this.beside, n, 6, held), back = inverted(whole, n, this.found);
      const by = product(flipped(acting, n, 6), back, 6, n, n);
      this.own = less(this.own, product(product(flipped(across, n, held), back, held, n, n), across, held, n, held));
      this.beside = less(this.beside, product(by, across, 6, n, held));
      this.w = even(less(this.w, product(by, acting, 6, n, 6)), 6);
    }
    this.add(-turning, outer(spin));
  }
}

/** What the losses of an arm make of it at `at`, rad/s: those of its file, if `own`, and a loss factor of all that gives way. */
const lossesAt = (arm, at, loss, own) => ({ at, own, loss, factor: 1, kept: new Map() });

function evaluateDamped(arm, losses, springs) {
  const counts = arm.counts ?? piecesFor(arm, losses.at);
  if (!counts) throw new Error(`${losses.at} rad/s: a link would need too many pieces at this frequency; take a lower one.`);
  const beyond = new BeyondDamped(arm, losses);
  inwards(arm, losses.at, counts, springs, beyond);
  inverted(beyond.own, beyond.held, beyond.found);
  return beyond.found;
}
