// The search for frequencies, and what certifies them.

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

/** Of an arm under forces at rest, whether it is at rest in its posture; how many modes have frequency zero. */
function zerosAtRest(arm) {
  if (arm.supports && arm.supports.length + arm.loads.length > 0 && arm.zeros > 0) throw new Error("an arm in space under axial forces whose free joints supports may hold: the page cannot tell whether it buckles; give every joint a stiffness.");
  const count = evaluate(arm, 0, "double").count;
  if (!(count <= arm.zeros)) throw new Error("the forces at rest buckle this arm: it has no frequencies in this posture.");
  return arm.zeros;
}

/** Modes of frequency zero: those below all that the stiffness of links can hold. */
const zeroModes = (arm) => (arm.rest ? zerosUnderLoads(arm) : arm.written.loaded ? zerosAtRest(arm) : evaluate(arm, 1e-10 * arm.scale, "double").count);

/** The lowest `nModes` frequencies, rad/s, each with the ends that enclose it and whether counts certify it. */
export function frequencies(arm, nModes) {
  if (!Number.isInteger(nModes) || nModes < 1 || nModes > 1000) throw new Error(`nModes = ${nModes}: must be a whole number from 1 to 1000.`);
  if (arm.loads) requireRoom(arm);
  const zeros = zeroModes(arm), points = [];
  const value = (at) => {
    const e = evaluate(arm, at, "float64");
    const place = points.findIndex((p) => p.omega > at);
    if (place < 0) points.push(e); else points.splice(place, 0, e);
    return e;
  };
  // an arm of rigid links has no more modes than its springs allow
  const finite = arm.links.every((link) => !link.flexible);
  let top = arm.scale;
  if (finite) {
    let e = evaluate(arm, top, "double");
    for (let k = 0; k < 66 && e.count < nModes; k++) e = evaluate(arm, (top *= 2), "double");
    nModes = Math.min(nModes, e.count);
  }
  for (let k = 0; k < 200 && !(value(top).count >= nModes); k++) top *= 2;
  const omega = new Float64Array(nModes), certified = new Uint8Array(nModes), lower = new Float64Array(nModes), upper = new Float64Array(nModes);
  const multiplicity = new Uint32Array(nModes).fill(1);
  let bottom = arm.scale;
  for (let k = 0; k < 60 && !(value(bottom).count <= zeros); k++) bottom *= 0.25;
  const open = [];
  for (let mode = zeros + 1; mode <= nModes; mode++) {
    let low = points[0], high = points[points.length - 1];
    for (const p of points) if (p.count < mode) low = p; else break;
    for (let k = points.length - 1; k >= 0; k--) if (points[k].count >= mode) high = points[k]; else break;
    const found = enclose(value, { ...low, closed: false, weight: 0 }, { ...high, closed: false, weight: 0 }, mode, 1e-12, 60);
    omega[mode - 1] = found.omega;
    // in float64, as far from the mode as rounding can move it and no farther than 4e-10; under loads see there
    const aside = arm.rest ? clearAside(arm, found.omega, found.omega) : Math.max(2e-11, 4 * CERTAIN * evaluate(arm, found.omega, "float64").noise);
    const a = (arm.rest || aside <= 4e-10) && evaluate(arm, found.omega * (1 - aside), "float64");
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
      const aside = arm.rest ? clearAside(arm, omega[first], omega[last]) : TOLERANCE;
      const below = Math.max(omega[first] * (1 - aside), 0.5 * (before + omega[first]));
      const above = Math.min(omega[last] * (1 + aside), 0.5 * (omega[last] + after));
      const proved = (model) => {
        const a = evaluate(model, below, "double"), b = evaluate(model, above, "double");
        const clear = CERTAIN * a.noise * omega[first] < 0.5 * (omega[first] - below) && CERTAIN * b.noise * omega[last] < 0.5 * (above - omega[last]);
        for (let k = first; k <= last; k++) multiplicity[k] = Math.max(1, b.count - a.count);
        return a.count <= first && b.count >= last + 1 && agrees(a) && agrees(b) && clear;
      };
      let sure = proved(arm);
      if (!sure && !otherwise) {
        // where the formulas of the links lose their digits, those of their parts do not
        cut = cut || cutArm(arm, (i) => shareOf(arm, i));
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
  const other = evaluate(cutArm(arm, (i) => shareOf(arm, i)), omega, "double");
  return other.noise < e.noise ? other.count : e.count;
}

const shareOf = (arm, i) => arm.written.shares[i % arm.written.shares.length];

/** The mode at `omega` to the last digits, and how many there are within 1e-13. */
function modeAt(given, omega) {
  const clear = CERTAIN * evaluate(given, omega, "double").noise <= 1e-15;
  const arm = clear ? given : cutArm(given, (i) => shareOf(given, i));
  for (const aside of [1e-14, 1e-13, 1e-11, 1e-9, 1e-7]) {
    const a = evaluate(arm, omega * (1 - aside), "double"), b = evaluate(arm, omega * (1 + aside), "double");
    if (b.count <= a.count) continue;
    const found = enclose((at) => evaluate(arm, at, "double"), a, b, a.count + 1, 4 * EPS, 120);
    return { exact: found.omega, multiplicity: aside <= 1e-13 ? b.count - a.count : 1 };
  }
  throw new Error(`omega = ${omega}: no natural frequency of this arm; take one that frequencies() has returned.`);
}
