// An arm in space from its text, its links with their numbers, and ports.

/** The arm of a text that `arm_json` of the library wrote. */
export function loadArm(json) {
  const written = typeof json === "string" ? JSON.parse(json) : json;
  if (!written || written.format !== FORMAT) {
    throw new Error(`the arm was written in the format ${written && written.format}; this solver reads ${FORMAT}. Write page and arm with one version.`);
  }
  const pair = (both) => ({ float64: new Tape(both.float64), double: new Tape(both.double || both.float64) });
  const layouts = written.layouts.map((layout) => ({
    ...layout,
    formulas: layout.formulas.map((own) => ({ link: pair(own.link), joint_before: new Tape(own.joint_before), joint_beyond: new Tape(own.joint_beyond) })),
    count: new Tape(layout.count),
    noise: layout.noise && new Tape(layout.noise),
  }));
  const tapes = { waves: pair(written.waves), member: pair(written.member) };
  for (const name of ["sizes", "plane", "twist", "passed"]) tapes[name] = new Tape(written[name]);
  tapes.carrying = written.carrying.map(({ entries, pivots, ...own }) => ({ entries, pivots: pivots && pair(pivots), ...Object.fromEntries(Object.entries(own).map(([name, tape]) => [name, new Tape(tape)])) }));
  if (written.rest) tapes.rest = restTapes(written.rest);
  if (written.whole[0].held) tapes.base = new Tape(written.whole[0].held.springs);
  return withValues({ written, tapes, layouts }, numbers(written.values));
}

/** Where a value stands by its address, such as "link2.joint_angle" or "theta_2". */
function placesOf(arm, address, value) {
  const { addresses, aliases } = arm.written;
  const theta = /^theta_([1-9][0-9]*)$/.exec(address);
  const full = theta ? `link${theta[1]}.joint_angle` : aliases[address] || address;
  const place = addresses.indexOf(full);
  if (place < 0) throw new Error(`${address} is no value that can be moved in this arm; it has ${addresses.join(", ")}.`);
  const stiffness = full.endsWith("stiffness"), least = stiffness || full.endsWith(".mass") ? 0 : -Infinity;
  if (value < least || (!stiffness && !Number.isFinite(value) && !Number.isNaN(value))) {
    const allowed = stiffness ? "0 or more, Infinity for a rigid one" : least === 0 ? "0 or more, and finite" : "finite";
    throw new Error(`${address} = ${value}: must be ${allowed}.`);
  }
  return [place];
}

function withValues(arm, values) {
  const members = new Float64Array(arm.tapes.sizes.outputs.length), n = members.length;
  arm.tapes.sizes.run(values, members);
  const changed = { ...arm, values, members, scale: members[n - 2], invalid: members[n - 1] !== 0 };
  changed.links = arm.written.whole.map((written, i) => linkOf(changed, written, values, i));
  changed.firsts = changed.links.map((_, i) => i);
  if (arm.tapes.rest) changed.rest = restOf(changed, values);
  changed.zeros = changed.links.reduce((sum, { springs }) => sum + springs.filter(({ from }) => values[from] === 0).length, 0);
  return supported(changed);
}

/** The same arm with its flexible links cut in two; the library has said where. */
const cutArm = (arm) => (arm.rest ? arm : supported({ ...arm, links: arm.written.cut.map((written) => linkOf(arm, written, arm.values)) }));

/** The same arm with flexible links cut at `shares` of the length of each; `firsts` is where each of them begins. */
function cutAt(arm, shares) {
  const { whole, cut } = arm.written, links = [], firsts = [];
  let at = 0;
  whole.forEach((written, i) => {
    firsts.push(links.length);
    const several = (cut[at].member?.share ?? null) !== null, ends = [0, ...shares(i), 1], of = ends.length > 2 && several ? cut.slice(at, at + 2) : [written];
    at += several ? 2 : 1;
    if (of.length === 1) { links.push(linkOf(arm, written, arm.values, i)); return; }
    ends.slice(1).forEach((end, p) => {
      const last = p === ends.length - 2, part = p === 0 ? of[0] : last ? of[1] : withoutTip(of[1]);
      links.push(linkOf(arm, { ...part, member: { ...part.member, span: [ends[p], end] } }, arm.values, i));
    });
  });
  return supported({ ...arm, links, firsts, shares });
}

/** A part of a link without what its tip carries. */
const withoutTip = (part) => ({ ...part, terms: [], numbers: part.numbers.map((row) => row.map((x, k) => (k >= BODY_MASS && k < BODY_MASS + 10 ? 0 : x))) });

/** A link with its numbers at these values, in pairs. */
function linkOf(arm, written, values, place) {
  const hi = Float64Array.from(written.numbers[0]), lo = Float64Array.from(written.numbers[1]);
  const add = (changes, bh, bl) => {
    for (const [k, h, l] of changes) {
      multiplyPairs(h, l, bh, bl);
      addPairs(hi[k], lo[k], H, L);
      hi[k] = H; lo[k] = L;
    }
  };
  const turned = new Map();
  for (const [factors, changes] of written.terms) {
    let ph = 1, pl = 0;
    for (const factor of factors) {
      factorOf(factor, values, turned);
      multiplyPairs(ph, pl, H, L);
      ph = H; pl = L;
    }
    if (ph !== 0) add(changes, ph, pl);
  }
  if (written.held) setBase(arm, written.held, values, hi, lo);
  for (const [place, from] of written.springs) {
    const stiffness = values[from], rigid = stiffness === Infinity, free = stiffness === 0;
    dividePairs(1, 0, rigid || free ? 1 : stiffness, 0);
    hi[place] = free ? 0 : 1; lo[place] = 0;
    hi[place + 1] = rigid ? 0 : free ? 1 : H; lo[place + 1] = rigid || free ? 0 : L;
  }
  const layout = arm.layouts[written.layout];
  const springs = written.springs.map(([at, from]) => ({ at, from, turns: arm.written.addresses[from].endsWith(".joint_stiffness") }));
  return { hi, lo, layout, springs, place, tip: written.tip ? tipOf(written, values) : [0, 0, 0], supports: written.supports ?? [], member: written.member && memberOf(arm, written.member), flexible: Number(written.member !== null), base: written.base };
}

/** A factor of what moves numbers, as a pair in H and L: a value, a sum of some, the sine or versed sine of one. */
function factorOf(factor, values, turned) {
  if (typeof factor === "number") { H = values[factor]; L = 0; return; }
  if (factor.sum) {
    let h = 0, l = 0;
    for (const [k, sign] of factor.sum) { addPairs(h, l, sign * values[k], 0); h = H; l = L; }
    return;
  }
  const from = factor.sine ?? factor.versed;
  if (!turned.has(from)) { // by half the angle, as the library
    const angle = values[from], t = new Float64Array(5), sign = angle < 0 ? -1 : 1;
    circularOfPair(Math.abs(0.5 * angle), 0, t, 0);
    multiplyPairs(2 * sign * t[0], 2 * sign * t[1], t[2], t[3]);
    const sine = [H, L];
    multiplyPairs(2 * t[0], 2 * t[1], t[0], t[1]);
    turned.set(from, { sine, versed: [H, L] });
  }
  [H, L] = turned.get(from)[factor.sine === undefined ? "versed" : "sine"];
}

/** The tip beside the outer end of what is elastic, of a rigid link beside its base, in the axes of its section. */
function tipOf({ tip, own }, values) {
  const along = tip.map((from) => from.reduce((sum, k) => sum + values[k], 0));
  return [0, 1, 2].map((i) => along[0] * own[i] + along[1] * own[3 + i] + along[2] * own[6 + i]);
}

/** The springs of the base from its stiffness. */
function setBase({ tapes }, { values: from, at }, values, hi, lo) {
  const { base } = tapes, size = base.outputs.length, found = new Float64Array(size), rest = new Float64Array(size);
  base.runPairs(from.map((k) => values[k]), from.map(() => 0), found, rest);
  hi.set(found, at); lo.set(rest, at);
}

/** Length and constants of both planes, in pairs, of an elastic link or of a part of it; and of one of its pieces. */
function memberOf(arm, { elastic, share, part, span }) {
  const { tapes, members, written } = arm, [plane, twist] = written.inputs, size = 2 * plane + twist;
  const given = members.subarray(elastic * size, (elastic + 1) * size), zeros = new Float64Array(plane + twist);
  const own = span ? (span[1] - span[0]) * given[0] : share === null ? given[0] : cutLengths(given[0], share)[part];
  const constants = (tape, inputs, length) => {
    for (const k of [0, plane]) if (k < inputs.length) inputs[k] = length;
    const size = tape.outputs.length, kind = { memberHi: new Float64Array(size), memberLo: new Float64Array(size) };
    tape.runPairs(inputs, zeros, kind.memberHi, kind.memberLo);
    return { float64: kind, double: kind, tape, inputs: inputs.slice(), moduli: [1, 5, plane + 1].filter((k) => k < inputs.length) };
  };
  const of = (length) => ({
    length,
    planes: [constants(tapes.plane, given.slice(0, plane), length), constants(tapes.twist, given.slice(plane), length)],
  });
  return { whole: of(own), piece: of(own / written.pieces) };
}

/** Which link a station cuts, and at which share of it; a rigid one is not cut. */
const stationOf = (arm, { link, station }) => ({ at: link + arm.written.baseLinks, share: arm.written.whole[link + arm.written.baseLinks].member ? station : 0 });

/** A port at the outer end of what is elastic: along or about an axis of the ground or of the link, or along components. */
function portOf(arm, { link, station, direction }, share) {
  const first = link + arm.written.baseLinks, whole = arm.written.whole[first], { bar, own } = whole, inside = station !== undefined;
  const at = inside ? arm.firsts[first] + Math.max(share, 0) : (arm.firsts[first + 1] ?? arm.links.length) - 1, { axes } = posed(arm)[at];
  const o = !inside ? tipOf(whole, arm.values) : bar === undefined ? [0, 0, 0] : [station * arm.values[bar], 0, 0];
  const name = /^(link_)?(r?)([xyz])$/.exec(direction), k = name && "xyz".indexOf(name[3]);
  const ground = name ? [0, 1, 2].map((j) => (j === k ? 1 : 0)) : unitOf(direction);
  const d = name?.[1] ? own.slice(3 * k, 3 * k + 3) : inAxes(axes, ground);
  return { at, vector: forceAt(d, o, Boolean(name?.[2])) };
}

/** A direction of the ground in the axes of a section. */
const inAxes = (axes, ground) => [0, 1, 2].map((j) => ground[0] * axes[j] + ground[1] * axes[3 + j] + ground[2] * axes[6 + j]);

/** A force at `o` along d, or a moment about it, at the end of what is elastic. */
const forceAt = (d, o, turning) => (turning ? [0, 0, 0, ...d] : [...d, o[1] * d[2] - o[2] * d[1], o[2] * d[0] - o[0] * d[2], o[0] * d[1] - o[1] * d[0]]);

/** The link whose joint a motor turns, among the parts. */
function jointOf(arm, link) {
  const at = arm.firsts[link + arm.written.baseLinks];
  if (!arm.links[at].springs.some(({ turns }) => turns)) throw new Error(`link ${link + 1} has no joint that turns, and so no motor there.`);
  return at;
}

/** The springs of a joint: where their laws stand among the inputs of a link, stiffness and damper; that of the motor is named. */
const springsOf = ({ values, written: { damping, addresses } }, link) =>
  link.springs.map(({ at, from, turns }) => ({ where: [1 + at, 2 + at], stiffness: values[from], damper: damping?.springs[addresses[from]] ?? 0, turns }));

/** Loss factor and time of the material of a link. */
const materialOf = (arm, link) => arm.written.damping?.material[link.place - arm.written.baseLinks] ?? [0, 0];

/** A link whose joint has a stiffer spring, and by what that makes the determinant larger; itself where it is rigid. */
function stiffer(link, k) {
  const { at } = link.springs.find(({ turns }) => turns), hi = link.hi.slice(), lo = link.lo.slice(), unit = hi[at], c = hi[at + 1];
  if (unit !== 0 && c === 0) return [link, 1];
  const [more, less] = unit === 0 ? [k, 1 / k] : [1 + k * c, c / (1 + k * c)];
  hi[at] = 1; hi[at + 1] = less; lo[at + 1] = 0;
  return [{ ...link, hi, lo, motor: k }, more];
}
