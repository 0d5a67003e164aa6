// An arm from its text, and determinant and count at one frequency.

const STIFFNESS = 6, BEFORE_WAVES = 9;

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

/** Where a value stands by its address, such as "link2.length"; "link*.length" is that of all. */
function placesOf(arm, address) {
  const { addresses, aliases } = arm.written;
  const theta = /^theta_([1-9][0-9]*)$/.exec(address);
  const full = theta ? `link${theta[1]}.joint_angle` : aliases[address] || address;
  const found = addresses.flatMap((name, k) => (name === full || (full.startsWith("link*.") && name.replace(/^link[0-9]+\./, "link*.") === full) ? [k] : []));
  if (found.length === 0) throw new Error(`${address} is no value of this arm; it has ${addresses.join(", ")}.`);
  return found;
}

function withValues(arm, values) {
  const { written, tapes } = arm, n = written.links, found = new Float64Array(tapes.beams.outputs.length);
  tapes.beams.run(values, found);
  const beams = [];
  for (let i = 0; i < n; i++) beams.push(Float64Array.from(written.fields, (_, k) => found[k * n + i]));
  const [scale, impossible, zeros] = found.subarray(written.fields.length * n);
  const changed = { written, tapes, values, beams, scale, invalid: impossible !== 0, zeros };
  changed.links = beams.map((beam, i) => linkOf(changed, beam, i));
  changed.firsts = beams.map((_, i) => i);
  return changed;
}

/** A link from its fields: constants in both kinds of numbers, features among them. */
function linkOf(arm, beam, place) {
  const { written, tapes } = arm, given = new Float64Array(tapes.constants.outputs.length);
  tapes.constants.run(beam, given);
  const own = written.features.filter((name) => ![...ROTOR, ...GROUND, LEVER].includes(name)), { inputs } = written;
  const at = { fixed: inputs, angle: inputs + 5, features: inputs + 6, rotor: inputs + 6 + own.length };
  const geared = written.features.includes(ROTOR[0]);
  const link = { flexible: 1, angle: given[at.angle], beam, place, inputs: given.slice(0, inputs) };
  for (const kind of ["float64", "double"]) {
    const hi = {}, lo = {};
    const several = tapes.member.float64.outputs.length, member = new Float64Array(several), rest = new Float64Array(several), zeros = new Float64Array(16);
    const run = (tape, x, h, l) => { if (kind === "double") tape.double.runPairs(x, zeros, h, l); else tape.float64.run(x, h); };
    run(tapes.member, given.subarray(0, inputs), member, rest);
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
    const fixed = [...given.subarray(at.fixed, at.angle)];
    link[kind] = {
      memberHi: member, memberLo: rest, featuresHi: hi, featuresLo: lo,
      fixedHi: Float64Array.from([...fixed, turn[0], turn[2]]),
      fixedLo: Float64Array.from([0, 0, 0, 0, 0, turn[1], turn[3]]),
    };
    if (hi.flexible !== undefined) link.flexible = hi.flexible;
  }
  return link;
}

/** The same arm with links cut in two; `share` gives that of the inner part of each link. */
const cutArm = (arm, share) => cutAt(arm, (i) => [share(i)]);

/** The same arm with links cut at `shares` of the length of each; `firsts` is where each of them begins. */
function cutAt(arm, shares) {
  const { fields, inner, outer } = arm.written, links = [], firsts = [], length = fields.indexOf("length");
  arm.beams.forEach((beam, i) => {
    const parts = partsOf(beam[length], shares(i));
    firsts.push(links.length);
    parts.forEach((own, p) => {
      const part = beam.slice();
      part[length] = own;
      fields.forEach((name, k) => {
        if (p > 0 && name in inner) part[k] = Number(inner[name]);
        if (p < parts.length - 1 && outer.includes(name)) part[k] = 0;
      });
      links.push(linkOf(arm, part, i));
    });
  });
  return { ...arm, links, firsts };
}

// ---------------------------------------------------------------- determinant and count at one frequency

const sixH = new Float64Array(6), sixL = new Float64Array(6), shares = new Float64Array(8), few = new Float64Array(3);

/** The link added to the stiffness in sixH, sixL; results into fh, fl, and that stiffness is replaced. */
function addLink(arm, link, omega, kind, tape, features) {
  functionsOf(arm, link, omega, kind);
  const own = link[kind], pairs = kind === "double";
  xh[0] = own.fixedHi[0]; xh[1] = arm.written.axial; xh[2] = omega;
  for (let k = 1; k < 7; k++) xh[2 + k] = own.fixedHi[k];
  xh.set(wh.subarray(0, WAVES), BEFORE_WAVES); xh.set(gh, BEFORE_WAVES + WAVES);
  xh.set(sixH, BEFORE_WAVES + WAVES + FUNCTIONS);
  const start = BEFORE_WAVES + WAVES + FUNCTIONS + STIFFNESS;
  if (arm.written.loaded) { own.featuresHi[LEVER] = wh[LEVER_AT]; own.featuresLo[LEVER] = wl[LEVER_AT]; }
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
function evaluate(arm, omega, kind, springs = []) {
  const { tapes, links, written } = arm, at = Math.max(omega, RESOLVED[kind] * (Number.isFinite(arm.scale) ? arm.scale : 0));
  sixH.fill(0); sixL.fill(0);
  let sign = 1, log = 0, count = 0, noise = 0, last = 0, shaken = 0;
  const results = tapes.link[kind].outputs.length;
  for (let i = links.length - 1; i >= 0; i--) {
    addSprings(springs, i, sixH, sixL);
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

/** Which beam a station of a link cuts, and at which share of it; null where it is not within a link. */
function stationOf(arm, { link, station }) {
  const { ends } = arm.written, first = link > 0 ? ends[link - 1] : 0, along = station * (ends[link] - first), piece = Math.min(Math.floor(along), ends[link] - first - 1);
  return { at: first + piece, share: along - piece };
}

/** A port at the outer end of the part `at`, in the axes of the ground or of the link, or turning; as a vector in its axes. */
function portOf(arm, { link, station, direction }, share) {
  const { ends } = arm.written, cut = station !== undefined && stationOf(arm, { link, station });
  const at = cut ? arm.firsts[cut.at] + share : (arm.firsts[ends[link]] ?? arm.links.length) - 1;
  if (direction === "turn") return { at, vector: [0, 0, 1] };
  const angle = arm.links.slice(0, at + 1).reduce((sum, own) => sum + own.angle, 0), c = Math.cos(angle), s = Math.sin(angle);
  const own = { along: [1, 0], across: [0, 1] }[direction];
  const [x, y] = own ?? unitOf({ x: [1, 0], y: [0, 1] }[direction] ?? direction);
  return { at, vector: own ? [x, y, 0] : [c * x + s * y, c * y - s * x, 0] };
}

/** The link whose joint a motor turns, among the parts. */
const jointOf = (arm, link) => arm.firsts[link > 0 ? arm.written.ends[link - 1] : 0];

const OF_SPRINGS = { joint_stiffness: "", joint_axial_stiffness: "axial", joint_shear_stiffness: "shear" };

/** The springs of a joint: where their laws stand among the inputs of a link, stiffness and damper; that of the motor is named. */
function springsOf(arm, link) {
  const { fields, features, ends, damping } = arm.written, start = BEFORE_WAVES + WAVES + FUNCTIONS + STIFFNESS, owner = ends.findIndex((end) => end > link.place);
  return Object.entries(OF_SPRINGS).flatMap(([name, kind]) => {
    const unit = kind ? features.indexOf(`${kind}_unit`) : 0, compliance = kind ? features.indexOf(`${kind}_compliance`) : 0, place = fields.indexOf(name);
    if (place < 0 || unit < 0) return [];
    const where = kind ? [start + unit, start + compliance] : [5, 6];
    return [{ where, stiffness: link.beam[place], damper: damping?.springs[`link${owner + 1}.${name}`] ?? 0, turns: !kind }];
  });
}

/** Loss factor and time of the material of a link. */
const materialOf = (arm, link) => arm.written.damping?.material[arm.written.ends.findIndex((end) => end > link.place)] ?? [0, 0];

/** A link whose joint has a stiffer spring, and by what that makes the determinant larger; itself where it is rigid. */
function stiffer(link, k) {
  const [unit, c] = link.double.fixedHi.subarray(3, 5), changed = { ...link };
  if (unit !== 0 && c === 0) return [link, 1];
  const [more, less] = unit === 0 ? [k, 1 / k] : [1 + k * c, c / (1 + k * c)];
  for (const kind of ["float64", "double"]) {
    const own = changed[kind] = { ...link[kind], fixedHi: link[kind].fixedHi.slice() };
    own.fixedHi.set([1, less], 3);
  }
  return [changed, more];
}
