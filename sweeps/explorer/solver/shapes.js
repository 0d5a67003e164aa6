// Mode shapes.

/** A stub: a rigid piece without length and mass, which holds what is at one end of a link. */
function stubOf(arm, beam, atBase) {
  const { fields, inner, outer } = arm.written, part = beam.slice();
  fields.forEach((name, k) => {
    if (atBase && outer.includes(name)) part[k] = 0;
    if (!atBase && name in inner) part[k] = Number(inner[name]);
  });
  const stub = linkOf(arm, part), own = stub.double;
  own.fixedHi[0] = 0;
  stub.stub = true;
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
      xh[12 + WAVES + FUNCTIONS] = wh[LEVER_AT]; xl[12 + WAVES + FUNCTIONS] = wl[LEVER_AT];
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

const DRAWN = ["joint_angle", "length", "base_offset_x", "base_offset_y", "end_offset_x", "end_offset_y"];

/** Where the links are at rest: angles, lengths and offsets, link by link: what its segments have, together. */
export function places(arm) {
  const { fields, ends } = arm.written;
  const of = (name) => ends.map((end, k) => {
    const own = arm.beams.slice(k > 0 ? ends[k - 1] : 0, end).map((beam) => (fields.includes(name) ? beam[fields.indexOf(name)] : 0));
    return own.reduce((sum, x) => sum + x, 0);
  });
  return Object.fromEntries(DRAWN.map((name) => [name, of(name)]));
}
