// Short pieces of links in space under loads, by collocation: `members` and `series` of `spatial.preload` in the library.

const STATES = 12, WHOLE = STATES * REST.stages;

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

/** The pieces between two shares of a link at the square of a frequency: matrices that transfer states through them. */
function transfersOf({ rest, tapes, once }, number, from, to, count, square) {
  const { beam, ends, bending, waves } = rest.links[number], share = (to - from) / count, n = 1 / share;
  const terms = (most, at) => Array.from({ length: count }, (_, k) => transferTerms(tapes.rest.rates, beam, (x) => forcesAt(ends, from + share * (k + x)), beam[0] * share, most, at));
  if (once) return terms(0, square).map(([first]) => first);
  const key = [number, from, to, count].join();
  if (!rest.series.has(key)) rest.series.set(key, terms(1.01 * Math.min(n ** 4 / bending, n ** 2 / waves), 0));
  return rest.series.get(key).map((series) => {
    const transfer = series.at(-1).slice();
    for (let term = series.length - 2; term >= 0; term--) for (let k = 0; k < 144; k++) transfer[k] = transfer[k] * square + series[term][k];
    return transfer;
  });
}

/** The triangular parts of 1 - h I A: without exchanges of rows, since it is 1 and what is small, whatever the units. */
function triangular(rates, h) {
  const { integrals, stages } = REST, lu = new Float64Array(WHOLE * WHOLE);
  for (let s = 0; s < stages; s++) for (let t = 0; t < stages; t++) {
    const x = -h * integrals[s][t], rate = rates[t];
    for (let i = 0; i < STATES; i++) for (let j = 0; j < STATES; j++) lu[(s * STATES + i) * WHOLE + t * STATES + j] = x * rate[i * STATES + j];
  }
  for (let k = 0; k < WHOLE; k++) lu[k * (WHOLE + 1)] += 1;
  for (let k = 0; k < WHOLE; k++) for (let i = k + 1; i < WHOLE; i++) {
    const x = lu[i * WHOLE + k];
    if (x === 0) continue;
    const factor = (lu[i * WHOLE + k] = x / lu[k * (WHOLE + 1)]);
    for (let j = k + 1; j < WHOLE; j++) lu[i * WHOLE + j] -= factor * lu[k * WHOLE + j];
  }
  return lu;
}

/** The solution for the columns `x`, in their place. */
function solve(lu, x) {
  for (let i = 0; i < WHOLE; i++) for (let k = 0; k < i; k++) {
    const f = lu[i * WHOLE + k];
    if (f !== 0) for (let j = 0; j < STATES; j++) x[i * STATES + j] -= f * x[k * STATES + j];
  }
  for (let i = WHOLE - 1; i >= 0; i--) {
    for (let k = i + 1; k < WHOLE; k++) {
      const f = lu[i * WHOLE + k];
      if (f !== 0) for (let j = 0; j < STATES; j++) x[i * STATES + j] -= f * x[k * STATES + j];
    }
    const d = 1 / lu[i * (WHOLE + 1)];
    for (let j = 0; j < STATES; j++) x[i * STATES + j] *= d;
  }
}

/**
 * The terms of the matrix that transfers states through a piece of length h, powers of the square of the frequency beyond
 * that `at` which it is taken; as many as matter up to `most`. The stages S of the first solve S = 1 + h I A S; those of the
 * next have h I M (S before) for 1.
 */
function transferTerms(tape, beam, forces, h, most, at) {
  const { points, weights, integrals, stages } = REST, given = points.map((x) => run(tape, [...beam, ...forces(x)])), inertia = given[0].subarray(144);
  const rates = given.map((rate) => rate.slice(0, 144));
  for (const rate of rates) for (let i = 0; i < 6; i++) rate[(6 + i) * STATES + i] -= at * inertia[i];
  const lu = triangular(rates, h), own = new Float64Array(WHOLE * STATES), sizes = new Float64Array(144), found = [];
  for (let k = 0; k < WHOLE; k++) own[k * STATES + (k % STATES)] = 1;
  let slopes = null; // along the piece, of inertia
  for (let power = 1; found.length < REST.terms; power *= most) {
    solve(lu, own);
    const term = new Float64Array(144), before = slopes;
    slopes = new Float64Array(WHOLE * STATES);
    for (let s = 0; s < stages; s++) {
      const stage = own.subarray(s * 144, (s + 1) * 144), rate = times(rates[s], stage, STATES, STATES, STATES);
      for (let k = 0; k < 144; k++) term[k] += h * weights[s] * (rate[k] + (before ? before[s * 144 + k] : 0));
      for (let i = 0; i < 6; i++) for (let j = 0; j < STATES; j++) slopes[s * 144 + (6 + i) * STATES + j] = -inertia[i] * stage[i * STATES + j];
    }
    if (found.length === 0) for (let k = 0; k < STATES; k++) term[k * 13] += 1;
    found.push(term);
    let matters = false;
    for (let k = 0; k < 144; k++) {
      const size = power * Math.abs(term[k]);
      if (size > 1e-18 * sizes[k]) matters = true;
      if (size > sizes[k]) sizes[k] = size;
    }
    if (!matters || most === 0) break;
    own.fill(0);
    for (let s = 0; s < stages; s++) for (let t = 0; t < stages; t++) {
      const x = h * integrals[s][t];
      for (let k = 72; k < 144; k++) own[s * 144 + k] += x * slopes[t * 144 + k];
    }
  }
  return found;
}

/** A piece from its transfer matrix: its stiffness, what it carries outwards, roots of what it gives. */
function pieceOf(transfer) {
  const block = (row, column) => {
    const x = new Float64Array(36);
    for (let i = 0; i < 6; i++) for (let j = 0; j < 6; j++) x[6 * i + j] = transfer[(row + i) * STATES + column + j];
    return x;
  };
  const b = block(0, 6), back = inverse(block(6, 6), 6), stiffness = times(back, block(6, 0), 6, 6, 6), through = times(b, stiffness, 6, 6, 6), carried = block(0, 0);
  for (let k = 0; k < 36; k++) carried[k] -= through[k];
  return { stiffness: symmetric(stiffness, 6), carried, roots: rootOf(symmetric(times(b, back, 6, 6, 6), 6)) };
}
