// Tapes in complex numbers, each part a pair: what an arm whose springs and links lose energy answers with.

// A complex number is four: the pair of its real part, the pair of its imaginary part; results are left in Q.
const Q = new Float64Array(4);
const quads = (size) => [0, 1, 2, 3].map(() => new Float64Array(size));
const xq = [xh, xl, new Float64Array(1024), new Float64Array(1024)], fq = quads(128), wq = quads(16), gq = quads(FUNCTIONS);

function keepQuad(found, k) {
  for (let p = 0; p < 4; p++) found[p][k] = Q[p];
}

function multiplyQuads(a, b, c, d, e, f, g, h) { // (a + b + i (c + d)) (e + f + i (g + h))
  multiplyPairs(a, b, e, f); const rh = H, rl = L;
  multiplyPairs(c, d, g, h); addPairs(rh, rl, -H, -L); const sh = H, sl = L;
  multiplyPairs(a, b, g, h); const th = H, tl = L;
  multiplyPairs(c, d, e, f); addPairs(th, tl, H, L);
  Q[0] = sh; Q[1] = sl; Q[2] = H; Q[3] = L;
}

function divideQuads(a, b, c, d, e, f, g, h) {
  multiplyPairs(e, f, e, f); const sh = H, sl = L;
  multiplyPairs(g, h, g, h); addPairs(sh, sl, H, L); const size = H, rest = L;
  multiplyQuads(a, b, c, d, e, f, -g, -h);
  dividePairs(Q[0], Q[1], size, rest); Q[0] = H; Q[1] = L;
  dividePairs(Q[2], Q[3], size, rest); Q[2] = H; Q[3] = L;
}

/** The root whose real part is not negative: in float64, and one step of Newton in pairs. */
function rootOfQuad(a, b, c, d) {
  const size = Math.hypot(a, c);
  if (size === 0) { Q.fill(0); return; }
  const larger = Math.sqrt(0.5 * (size + Math.abs(a))), smaller = c / (2 * larger);
  const re = a >= 0 ? larger : Math.abs(smaller), im = a >= 0 ? smaller : Math.sign(c || 1) * larger;
  multiplyQuads(re, 0, im, 0, re, 0, im, 0);
  addPairs(a, b, -Q[0], -Q[1]); const rh = H, rl = L;
  addPairs(c, d, -Q[2], -Q[3]);
  divideQuads(rh, rl, H, L, 2 * re, 0, 2 * im, 0);
  addPairs(re, 0, Q[0], Q[1]); Q[0] = H; Q[1] = L;
  addPairs(im, 0, Q[2], Q[3]); Q[2] = H; Q[3] = L;
}

/** Run a tape of pairs on complex inputs; what is chosen by a sign is chosen by that of the real part. */
function runQuads(tape, x, found) {
  tape.quads ??= quads(tape.hi.length);
  const [rh, rl, ih, il] = tape.quads, { code } = tape;
  rh.set(tape.hi); rl.fill(0); ih.fill(0); il.fill(0); // constants stand among the real parts
  for (let k = 0; k < tape.inputs; k++) { rh[k] = x[0][k]; rl[k] = x[1][k]; ih[k] = x[2][k]; il[k] = x[3][k]; }
  for (let k = 0; k < code.length; k += 5) {
    const to = code[k + 1], i = code[k + 2], j = code[k + 3], way = code[k] === SUBTRACT ? -1 : 1;
    switch (code[k]) {
      case ADD: case SUBTRACT:
        addPairs(rh[i], rl[i], way * rh[j], way * rl[j]); Q[0] = H; Q[1] = L;
        addPairs(ih[i], il[i], way * ih[j], way * il[j]); Q[2] = H; Q[3] = L;
        break;
      case MULTIPLY: multiplyQuads(rh[i], rl[i], ih[i], il[i], rh[j], rl[j], ih[j], il[j]); break;
      case DIVIDE: divideQuads(rh[i], rl[i], ih[i], il[i], rh[j] === 0 && ih[j] === 0 ? 1e-150 : rh[j], rl[j], ih[j], il[j]); break;
      case SQRT: rootOfQuad(rh[i], rl[i], ih[i], il[i]); break;
      case SELECT: { const from = rh[i] > 0 ? j : code[k + 4]; Q[0] = rh[from]; Q[1] = rl[from]; Q[2] = ih[from]; Q[3] = il[from]; break; }
      case NONZERO: Q[0] = rh[i] === 0 && ih[i] === 0 ? 1e-150 : rh[i]; Q[1] = rl[i]; Q[2] = ih[i]; Q[3] = il[i]; break;
      default: throw new Error(`operation ${code[k]} is none of complex numbers`);
    }
    rh[to] = Q[0]; rl[to] = Q[1]; ih[to] = Q[2]; il[to] = Q[3];
  }
  for (let k = 0; k < tape.outputs.length; k++)
    for (let p = 0; p < 4; p++) found[p][k] = tape.quads[p][tape.outputs[k]] * tape.signs[k];
}

/** Sine and cosine of a complex number whose real part is not negative, into `found` at `at` and behind it. */
function circularOfQuad(a, b, c, d, found, at) {
  const way = c < 0 ? -1 : 1;
  decayOfPair(way * c, way * d);
  const eh = H, el = L;
  dividePairs(0.5, 0, eh, el);
  const gh = H, gl = L;
  addPairs(gh, gl, 0.5 * eh, 0.5 * el); const ch = H, cl = L;
  addPairs(gh, gl, -0.5 * eh, -0.5 * el); const sh = way * H, sl = way * L;
  circularOfPair(a, b, turns, 0);
  const put = (k, xh0, xl0, yh, yl, zh, zl, vh, vl) => {
    multiplyPairs(xh0, xl0, yh, yl); Q[0] = H; Q[1] = L;
    multiplyPairs(zh, zl, vh, vl); Q[2] = H; Q[3] = L;
    keepQuad(found, k);
  };
  put(at, turns[0], turns[1], ch, cl, turns[2], turns[3], sh, sl);
  put(at + 1, turns[2], turns[3], ch, cl, -turns[0], -turns[1], sh, sl);
}

/** As `functionsOf`, at a complex frequency and with complex constants of the member, into wq and gq. */
function functionsOfDamped(arm, constants, omega) {
  for (let p = 0; p < 4; p++) { xq[p].fill(0, 0, 16); xq[p][0] = omega[p]; xq[p].set(constants[p], 1); }
  runQuads(arm.tapes.waves.double, xq, wq);
  const at = (k) => wq.map((part) => part[k]), [ah, al, bh, bl] = at(ALPHA);
  decayOfPair(ah, al);
  const size = H, rest = L;
  circularOfPair(Math.abs(bh), bh < 0 ? -bl : bl, turns, 0);
  multiplyPairs(size, rest, turns[2], turns[3]); Q[0] = H; Q[1] = L;
  multiplyPairs(-size * (bh < 0 ? -1 : 1), -rest * (bh < 0 ? -1 : 1), turns[0], turns[1]); Q[2] = H; Q[3] = L;
  keepQuad(gq, 0);
  const z = at(Z1);
  Q.set([1, 0, 0, 0]);
  if (z[0] >= 0 && z[0] <= 0.25) {
    const rows = SERIES.sinh_ratio;
    Q.set([...rows[rows.length - 1], 0, 0]);
    for (let k = rows.length - 2; k >= 0; k--) {
      multiplyQuads(...Q, ...z);
      addPairs(Q[0], Q[1], ...rows[k]); Q[0] = H; Q[1] = L;
    }
  }
  keepQuad(gq, 1);
  [ALPHA, BETA, MU].forEach((name, k) => circularOfQuad(...at(name).map((x) => 0.5 * x), gq, 2 + 2 * k));
}

/**
 * What the losses of an arm make of it at `at`, rad/s: those of its file, if `own`, and a loss factor of all that gives way.
 * The latter multiplies all stiffness by 1 + i loss, and so stands beside it as a `factor` of which the frequency has the
 * root; not under forces at rest, which it does not multiply: there it is in each modulus and spring.
 */
function lossesAt(arm, at, loss, own) {
  const apart = !arm.written.loaded, found = { at, own, omega: [at, 0, 0, 0], by: [1, apart ? 0 : loss], share: [1, 0] };
  if (apart && loss > 0) {
    divideQuads(at, 0, 0, 0, 1, 0, loss, 0);
    multiplyQuads(...Q, at, 0, 0, 0);
    rootOfQuad(...Q);
    found.omega = [...Q];
    found.share = [1 / (1 + loss * loss), -loss / (1 + loss * loss)];
  }
  return { ...found, factor: apart ? Math.hypot(1, loss) : 1 };
}

/** Constants of a member by its `tape` of pairs, `moduli` among its `inputs` as the material of its link makes them. */
function constantsOf(arm, link, tape, inputs, moduli, { at, own, by, share }) {
  const [loss, time] = own ? materialOf(arm, link) : [0, 0], lost = loss + at * time;
  const factor = [by[0] - lost * share[1], by[1] + lost * share[0]], found = quads(tape.outputs.length), x = quads(inputs.length);
  x[0].set(inputs);
  for (const k of moduli) {
    if (!Number.isFinite(inputs[k])) continue;
    multiplyPairs(inputs[k], 0, factor[0], 0); x[0][k] = H; x[1][k] = L;
    multiplyPairs(inputs[k], 0, factor[1], 0); x[2][k] = H; x[3][k] = L;
  }
  runQuads(tape, x, found);
  return found;
}

/**
 * Sets the laws of the springs of a link among the inputs in xq: dampers beside them, and what stiffens the joint as a port,
 * `k`; by what that makes the determinant larger, or null for nothing.
 */
function setLaws(arm, link, { at, own, by, share }, k) {
  let larger = null;
  for (const { where: [unit, compliance], stiffness, damper, turns } of springsOf(arm, link)) {
    const lost = own ? at * damper : 0, stiffer = turns && k !== null ? k : 0;
    if (!Number.isFinite(stiffness) || (lost === 0 && stiffer === 0 && by[1] === 0)) continue;
    const re = stiffness * by[0] - lost * share[1], im = stiffness * by[1] + lost * share[0];
    if (re + stiffer === 0 && im === 0) continue;
    if (stiffer > 0) {
      if (re === 0 && im === 0) larger = [stiffer, 0];
      else { divideQuads(re + stiffer, 0, im, 0, re, 0, im, 0); larger = [Q[0], Q[2]]; }
    }
    divideQuads(1, 0, 0, 0, re + stiffer, 0, im, 0);
    for (let p = 0; p < 4; p++) { xq[p][unit] = p === 0 ? 1 : 0; xq[p][compliance] = Q[p]; }
  }
  return larger;
}
