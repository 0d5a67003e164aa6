// Short pieces of links in space under loads, by collocation: `members` and `series` of `spatial.preload` in the library.

const STATES = 12;

const run = (tape, given) => {
  const found = new Float64Array(tape.outputs.length);
  tape.run(given, found);
  return found;
};

/** Section forces at a share of a link's length, from those at its base, its middle and its tip: they are quadratic. */
const forcesAt = (ends, s) => [0, 1, 2, 3, 4, 5].map((k) => ends[k] + s * (s * (2 * ends[k] - 4 * ends[6 + k] + 2 * ends[12 + k]) + 4 * ends[6 + k] - 3 * ends[k] - ends[12 + k]));

/** How many pieces each elastic link needs at a frequency, of few numbers so that few series are made; null: too many. */
function piecesFor({ rest: { links } }, omega) {
  const square = omega * omega, found = [];
  for (const link of links) {
    const needed = link === null ? 1 : Math.max(link.still, (square * link.bending) ** 0.25, (square * link.waves) ** 0.5);
    if (!(needed <= REST.most)) return null;
    let several = 2 ** Math.ceil(Math.log2(needed));
    if (several >= 4 && 0.75 * several >= needed) several *= 0.75;
    found.push(several);
  }
  return found;
}

/**
 * The pieces between two shares of a link at the square of a frequency: matrices that transfer states through them; of moduli
 * with a `lost` share, their imaginary parts beneath the real ones.
 */
function transfersOf({ rest, tapes, once }, number, from, to, count, square, lost = 0) {
  const { beam, ends, bending, waves } = rest.links[number], share = (to - from) / count, n = 1 / share;
  const terms = (most, at) => Array.from({ length: count }, (_, k) => transferTerms(lossy(tapes.rest.rates, beam, lost), (x) => forcesAt(ends, from + share * (k + x)), beam[0] * share, most, at));
  if (once) return terms(0, square).map(([first]) => first);
  const key = [number, from, to, count, lost].join();
  if (!rest.series.has(key)) rest.series.set(key, terms(1.01 * Math.min(n ** 4 / bending, n ** 2 / waves), 0));
  return rest.series.get(key).map((series) => {
    const transfer = series.at(-1).slice();
    for (let term = series.length - 2; term >= 0; term--) for (let k = 0; k < transfer.length; k++) transfer[k] = transfer[k] * square + series[term][k];
    return transfer;
  });
}

/** Rates of the states of a beam and its inertia from its section forces; `lost` is the imaginary part of all its moduli. */
function lossy(tape, beam, lost) {
  if (lost === 0) return (forces) => {
    const found = run(tape, [...beam, ...forces]);
    return { rate: found.slice(0, 144), inertia: found.subarray(144), size: STATES };
  };
  const given = beam.map((x, k) => (REST.moduli.includes(k) ? lost * x : 0)), size = 2 * STATES;
  return (forces) => {
    const [re, im] = runComplex(tape, [...beam, ...forces], given), rate = new Float64Array(size * size);
    for (let i = 0; i < STATES; i++) for (let j = 0; j < STATES; j++) {
      const at = i * size + j, k = i * STATES + j, beneath = STATES * size;
      rate[at] = rate[at + beneath + STATES] = re[k];
      rate[at + beneath] = im[k];
      rate[at + STATES] = -im[k];
    }
    return { rate, inertia: re.subarray(144), size };
  };
}

/** The triangular parts of 1 - h I A: without exchanges of rows, since it is 1 and what is small, whatever the units. */
function triangular(rates, h, size) {
  const { integrals, stages } = REST, whole = size * stages, lu = new Float64Array(whole * whole);
  for (let s = 0; s < stages; s++) for (let t = 0; t < stages; t++) {
    const x = -h * integrals[s][t], rate = rates[t];
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) lu[(s * size + i) * whole + t * size + j] = x * rate[i * size + j];
  }
  for (let k = 0; k < whole; k++) lu[k * (whole + 1)] += 1;
  for (let k = 0; k < whole; k++) for (let i = k + 1; i < whole; i++) {
    const x = lu[i * whole + k];
    if (x === 0) continue;
    const factor = (lu[i * whole + k] = x / lu[k * (whole + 1)]);
    for (let j = k + 1; j < whole; j++) lu[i * whole + j] -= factor * lu[k * whole + j];
  }
  return lu;
}

/** The solution for the columns `x`, in their place. */
function solve(lu, x) {
  const whole = x.length / STATES;
  for (let i = 0; i < whole; i++) for (let k = 0; k < i; k++) {
    const f = lu[i * whole + k];
    if (f !== 0) for (let j = 0; j < STATES; j++) x[i * STATES + j] -= f * x[k * STATES + j];
  }
  for (let i = whole - 1; i >= 0; i--) {
    for (let k = i + 1; k < whole; k++) {
      const f = lu[i * whole + k];
      if (f !== 0) for (let j = 0; j < STATES; j++) x[i * STATES + j] -= f * x[k * STATES + j];
    }
    const d = 1 / lu[i * (whole + 1)];
    for (let j = 0; j < STATES; j++) x[i * STATES + j] *= d;
  }
}

/**
 * The terms of the matrix that transfers states through a piece of length h, powers of the square of the frequency beyond
 * that `at` which it is taken; as many as matter up to `most`. The stages S of the first solve S = 1 + h I A S; those of the
 * next have h I M (S before) for 1. States of complex numbers are 24, the real parts first.
 */
function transferTerms(ratesAt, forces, h, most, at) {
  const { points, weights, integrals, stages } = REST, given = points.map((x) => ratesAt(forces(x))), { inertia, size } = given[0], wide = size * STATES, parts = [];
  for (let first = 0; first < size; first += STATES) for (let i = 0; i < 6; i++) parts.push([first + 6 + i, first + i, inertia[i]]);
  const rates = given.map(({ rate }) => rate);
  for (const rate of rates) for (const [i, j, x] of parts) rate[i * size + j] -= at * x;
  const lu = triangular(rates, h, size), own = new Float64Array(stages * wide), sizes = new Float64Array(wide), found = [];
  for (let s = 0; s < stages; s++) for (let k = 0; k < STATES; k++) own[s * wide + k * 13] = 1;
  let slopes = null; // along the piece, of inertia
  for (let power = 1; found.length < REST.terms; power *= most) {
    solve(lu, own);
    const term = new Float64Array(wide), before = slopes;
    slopes = new Float64Array(stages * wide);
    for (let s = 0; s < stages; s++) {
      const stage = own.subarray(s * wide, (s + 1) * wide), rate = times(rates[s], stage, size, size, STATES);
      for (let k = 0; k < wide; k++) term[k] += h * weights[s] * (rate[k] + (before ? before[s * wide + k] : 0));
      for (const [i, j, x] of parts) for (let k = 0; k < STATES; k++) slopes[s * wide + i * STATES + k] = -x * stage[j * STATES + k];
    }
    if (found.length === 0) for (let k = 0; k < STATES; k++) term[k * 13] += 1;
    found.push(term);
    let matters = false;
    for (let k = 0; k < wide; k++) {
      const share = power * Math.abs(term[k]);
      if (share > 1e-18 * sizes[k]) matters = true;
      if (share > sizes[k]) sizes[k] = share;
    }
    if (!matters || most === 0) break;
    own.fill(0);
    for (let s = 0; s < stages; s++) for (let t = 0; t < stages; t++) {
      const x = h * integrals[s][t];
      for (let k = 72; k < wide; k++) own[s * wide + k] += x * slopes[t * wide + k];
    }
  }
  return found;
}

/** A part (6, 6) of a transfer matrix. */
function block(transfer, row, column) {
  const x = new Float64Array(36);
  for (let i = 0; i < 6; i++) for (let j = 0; j < 6; j++) x[6 * i + j] = transfer[(row + i) * STATES + column + j];
  return x;
}

/** A piece from its transfer matrix: its stiffness, what it carries outwards, roots of what it gives. */
function pieceOf(transfer) {
  const b = block(transfer, 0, 6), back = inverse(block(transfer, 6, 6), 6), stiffness = times(back, block(transfer, 6, 0), 6, 6, 6), through = times(b, stiffness, 6, 6, 6), carried = block(transfer, 0, 0);
  for (let k = 0; k < 36; k++) carried[k] -= through[k];
  return { stiffness: symmetric(stiffness, 6), carried, roots: rootOf(symmetric(times(b, back, 6, 6, 6), 6)) };
}
