// What a mode depends on, and how the arm answers to a force: from determinants next to each other, in double-double.

/** What determinants say of an arm that has lost its digits, they say of its parts. */
const exactly = (arm, omega) => (arm.rest ? (x) => ({ ...x, counts: piecesFor(arm, omega) }) : CERTAIN * evaluate(arm, omega, "double").noise <= 1e-15 ? (x) => x : (x) => cutArm(x, (i) => shareOf(x, i)));

/** The arm with another value, in SI units, at an address. */
export const setValue = (arm, address, value) => setValues(arm, { [address]: value });

/** The arm with other values by their addresses, all at once: some fit only with others. */
export function setValues(arm, given) {
  const names = Object.entries(given);
  const changed = (some) => {
    const values = arm.values.slice();
    for (const [address, value] of some) for (const place of placesOf(arm, address, value)) values[place] = value;
    return withValues(arm, values);
  };
  for (const [address, value] of names) if (typeof value !== "number" || Number.isNaN(value)) throw new Error(`${address} = ${value}: must be a number.`);
  const found = changed(names);
  if (!found.invalid) return found;
  const alone = names.filter((one) => changed([one]).invalid), which = (alone.length > 0 ? alone.slice(0, 1) : names).map(([address, value]) => `${address} = ${value}`);
  const loose = arm.written.loaded ? ", or nothing holds a free joint against its forces at rest" : "";
  throw new Error(`${which.join(", ")}: no arm can have ${which.length > 1 ? "these values together" : "this value"}${loose}; see the page on arm files.`);
}

const SLIGHTLY = 1e-6;

/** By how much a value is moved for a difference: a share of it; what is 0 or an angle, by so much. 0: it has none. */
function slightly(address, value) {
  if (!Number.isFinite(value) || address.endsWith("stiffness")) return Number.isFinite(value) ? SLIGHTLY * value : 0;
  const turns = /(angle|direction|(offset|centre)[._][xyz])$/.test(address);
  return turns || value === 0 ? SLIGHTLY : SLIGHTLY * Math.abs(value);
}

/**
 * d ln(omega)/d value, in SI units, of values at `addresses`; NaN where there is none (a rigid joint). `omega` must be
 * one of the frequencies, and stand alone: where another is within a 1e-4 of it the derivative says nothing.
 */
export function slopes(arm, omega, addresses) {
  const { exact } = modeAt(arm, omega), cut = exactly(arm, omega);
  const beside = (model, at, log) => { const e = evaluate(model, at, "double"); return e.sign * Math.exp(e.log - log); };
  const own = cut(arm), { log } = evaluate(own, exact * (1 + SLIGHTLY), "double");
  const along = (beside(own, exact * (1 + SLIGHTLY), log) - beside(own, exact * (1 - SLIGHTLY), log)) / (2 * SLIGHTLY);
  return Float64Array.from(addresses, (address) => {
    const place = arm.written.addresses.indexOf(address), step = slightly(address, arm.values[place]);
    if (!(step > 0)) return NaN;
    const at = (way) => {
      const values = arm.values.slice();
      values[place] += way * step;
      return [beside(cut(withValues(arm, values)), exact, log), values[place]];
    };
    const [[after, more], [before, less]] = [at(1), at(-1)];
    return -(after - before) / (more - less) / along;
  });
}

/** The modes with another value at some addresses, and how each changes with it, d omega/d value; for a curve. */
export function along(arm, addresses, value, nModes) {
  const other = setValues(arm, Object.fromEntries(addresses.map((name) => [name, value]))), found = frequencies(other, nModes), { omega, multiplicity } = found;
  const alone = (k) => omega[k] > 1e-9 * other.scale && multiplicity[k] === 1 && [k - 1, k + 1].every((j) => !(Math.abs(omega[j] - omega[k]) < 1e-4 * omega[k]));
  const slope = Float64Array.from(omega, (x, k) => (alone(k) ? x * slopes(other, x, addresses).reduce((sum, each) => sum + each, 0) : NaN));
  return { omega, certified: found.certified, slope };
}

/** Squares of answers at another port beside those at both ports themselves, of which five digits are left. */
const RESOLVED_ANSWER = 1e-8;

/**
 * The size of the displacement at one port for a unit force at another, at frequencies `omega`, rad/s; see `atPorts`. `loss`
 * is the loss factor of all that gives way, links, joints and supports: each stiffness times 1 + i loss; `own` says whether
 * the arm has the damping of its file, too. NaN where the answer is less than a 1e-4 of those at the two ports themselves,
 * whose difference it is; 0 at the motor of a rigid joint.
 *
 * A spring k at a port makes a determinant larger by 1 + k H, two springs by (1 + k H)(1 + k' H') - k k' H''^2.
 */
export function receptances(arm, omega, first, second, loss = 0, own = false) {
  if (!(loss >= 0 && loss < 10)) throw new Error(`loss = ${loss}: must be 0 or more, and less than 10.`);
  if (loss > 0 && arm.written.loaded && arm.written.held && !arm.rest) throw new Error(`loss = ${loss}: under forces at rest the page has no loss factor for all of an arm with supports or an elastic base; set it to 0.`);
  const { cut, springs } = atPorts(arm, [first, second]), same = JSON.stringify(first) === JSON.stringify(second);
  const losses = (at) => (loss > 0 || (own && arm.written.damping) ? lossesAt(arm, at, loss, own) : null);
  return Float64Array.from(omega, (at) => {
    const lossy = losses(at), ratio = ratioAt(cut, at, lossy);
    const alone = springs.map((spring) => {
      let found = [0, 0];
      for (let round = 0; round < 4; round++) { // by a spring as stiff as the arm is there
        const [re, im] = ratio(spring);
        found = [(re - 1) / spring.k, im / spring.k];
        const size = Math.hypot(...found) * spring.k;
        if (!(size > 0 && Number.isFinite(size)) || (size > 0.1 && size < 10)) break;
        spring.k = Math.min(Math.max(spring.k / size, 1e-30), 1e30);
      }
      return found;
    });
    const factor = lossy?.factor ?? 1, [a, b] = springs, [[p, q], [r, s]] = alone;
    if (alone.some(([re, im]) => re === 0 && im === 0)) return 0;
    if (same) return Math.hypot(p, q) / factor;
    const [re, im] = ratio(a, b), x = [1 + a.k * p, a.k * q], y = [1 + b.k * r, b.k * s];
    const squared = Math.hypot(x[0] * y[0] - x[1] * y[1] - re, x[0] * y[1] + x[1] * y[0] - im) / (a.k * b.k);
    return squared > RESOLVED_ANSWER * Math.hypot(p, q) * Math.hypot(r, s) ? Math.sqrt(squared) / factor : NaN;
  });
}

/** By what springs make the determinant larger, as a complex number. */
function ratioAt(arm, at, losses) {
  if (losses) {
    const { re, im, log } = evaluateDamped(arm, losses, []);
    return (...given) => {
      const e = evaluateDamped(arm, losses, given), size = Math.exp(e.log - log) / (re * re + im * im); // 1 where nothing changes
      return [size * (e.re * re + e.im * im), size * (e.im * re - e.re * im)];
    };
  }
  const { sign, log } = evaluate(arm, at, "double");
  return (...given) => {
    const [stiff, springs, larger] = withMotors(arm, given), e = evaluate(stiff, at, "double", springs);
    return [e.sign * sign * larger * Math.exp(e.log - log), 0];
  };
}
