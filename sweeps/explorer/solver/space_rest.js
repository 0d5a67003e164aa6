// Arms in space under loads: forces at rest by a tape, counts from the tip to the base, shapes back to the tip. As `chain`,
// `condensation`, `loaded` and `vibrating` of `spatial.preload` in the library, in float64.

/** The tapes of an arm under loads. */
const restTapes = ({ beams, held, parts, rates, needed }) => ({ beams: new Tape(beams), held: held && new Tape(held), parts: new Tape(parts), rates: new Tape(rates), needed: new Tape(needed) });

/** What an arm under loads is at its values: numbers of its parts, its beams, what its links need. */
function restOf({ written: { rest: written }, tapes: { rest: tapes } }, values) {
  const beams = run(tapes.beams, values), held = tapes.held && heldAtRest(run(tapes.held, [...values, ...beams]), written.shared);
  const found = run(tapes.parts, [...values, ...beams, ...(held?.forces ?? [])]);
  const links = written.forces.map((at, k) => {
    if (at === null) return null;
    const beam = beams.subarray(k * written.beam, (k + 1) * written.beam), ends = found.subarray(at, at + 18);
    const [still, bending, waves] = run(tapes.needed, [...beam, ...REST.shares.flatMap((share) => forcesAt(ends, share))]);
    return { beam, ends, still, bending, waves };
  });
  const [reach, lengths] = found.subarray(written.sizes, written.sizes + 2);
  return { found, links, reach, lengths, held, series: new Map() };
}

/**
 * What is beyond a place: its stiffness, and what its terms add up to by amount; unknowns that are kept, with their coupling
 * to the motion here; forces of rigid supports and of springs that have done no work yet; pivots so far.
 */
class Beyond {
  constructor(reach, trail) {
    Object.assign(this, { reach, trail, w: new Float64Array(36), amount: new Float64Array(36), beside: new Float64Array(0), own: [], held: [], sprung: [], forces: 0, log: 0, count: 0, fallen: 0, clear: true });
  }

  /** Add a multiple of a matrix (6, 6) to the stiffness. */
  add(factor, matrix) {
    for (let k = 0; k < 36; k++) this.at(k, factor * matrix[k]);
  }

  at(k, stiffness) {
    this.w[k] += stiffness;
    if (k % 7 === 0) this.amount[k] += Math.abs(stiffness);
  }

  transfers(...given) {
    return transfersOf(...given);
  }

  piece(transfer) {
    const { stiffness, carried, roots } = pieceOf(transfer);
    this.release(roots, 6);
    this.rigid(carried);
    this.add(1, stiffness);
  }

  base(stiffness) {
    this.release(transposed(inverse(rootOf(stiffness), 6), 6, 6), 6);
  }

  rigid(matrix) {
    const back = transposed(matrix, 6, 6), kept = this.own.length;
    for (const key of ["w", "amount"]) this[key] = symmetric(times(times(back, this[key], 6, 6, 6), matrix, 6, 6, 6), 6);
    if (kept > 0) this.beside = times(back, this.beside, 6, 6, kept);
    this.held = this.held.map((x) => times(back, x, 6, 6, 1));
    this.sprung = this.sprung.map(({ d, give }) => ({ d: times(back, d, 6, 6, 1), give }));
    this.trail?.push({ matrix });
  }

  /** Pivots that are eliminated together. */
  judge(values) {
    const largest = values.reduce((most, x) => Math.max(most, Math.abs(x)), 1);
    for (const x of values) {
      this.log += Math.log(Math.abs(x));
      this.count += Number(x < 0);
      this.fallen += Number(x < -REST.noStiffness * largest);
      if (!(Math.abs(x) > REST.rounding * largest)) this.clear = false;
    }
  }

  /** Release an elastic element of `k` deflections; `coupled` couples them to the motion before, in addition. */
  release(roots, k, unit, coupled) {
    const acting = times(this.w, roots, 6, 6, k), corner = times(transposed(roots, 6, k), acting, k, 6, k);
    const scale = unit ? this.scale(roots, unit, k) : new Float64Array(k).fill(1), along = roots.map((x, i) => x * scale[i % k]);
    for (const x of scale) this.log -= 2 * Math.log(x);
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) corner[i * k + j] = (corner[i * k + j] + (unit ? unit[i * k + j] : Number(i === j))) * scale[i] * scale[j];
    this.meet(along, corner, k);
    const kept = this.own.length, size = k + kept, known = new Float64Array(6 * size), block = new Float64Array(size * size);
    for (let i = 0; i < 6; i++) {
      for (let j = 0; j < k; j++) known[i * size + j] = (acting[i * k + j] + (coupled ? coupled[i * k + j] : 0)) * scale[j];
      for (let j = 0; j < kept; j++) known[i * size + k + j] = this.beside[i * kept + j];
    }
    const across = kept > 0 && times(transposed(along, 6, k), this.beside, k, 6, kept);
    for (let i = 0; i < k; i++) {
      for (let j = 0; j < k; j++) block[i * size + j] = corner[i * k + j];
      for (let j = 0; j < kept; j++) block[i * size + k + j] = block[(k + j) * size + i] = across[i * kept + j];
    }
    for (let j = 0; j < kept; j++) block[(k + j) * (size + 1)] = this.own[j];
    const { values, vectors } = eigen(symmetric(block, size), size), acted = times(known, vectors, 6, size, size);
    const least = Math.max(REST.nearlySingular, REST.rounded * values.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
    const clear = (j) => Math.abs(values[j]) > least, places = [...values.keys()], open = places.filter((j) => !clear(j)), done = places.filter(clear);
    for (const j of done) for (let a = 0; a < 6; a++) for (let b = 0; b < 6; b++) {
      const term = acted[a * size + j] * acted[b * size + j];
      this.w[6 * a + b] -= term / values[j];
      this.amount[6 * a + b] += term / Math.abs(values[j]);
    }
    symmetric(this.w, 6);
    this.trail?.push({ along, k, size, values, vectors, acted, open });
    this.own = open.map((j) => values[j]);
    this.beside = Float64Array.from({ length: 6 * open.length }, (_, i) => acted[Math.floor(i / open.length) * size + open[i % open.length]]);
    this.judge(done.map((j) => values[j]));
  }

  /** Keep the forces of supports that do work on these deflections, scaled to them, as further unknowns. */
  meet(along, corner, k) {
    if (this.held.length + this.sprung.length === 0) return;
    const shared = (x, factor) => { this.log -= 2 * Math.log(factor); return x.map((y) => y * factor); }; // D is as without it
    const work = (x) => times(transposed(along, 6, k), x, k, 6, 1);
    const share = (x) => 1 / (Math.max(...Array.from({ length: k }, (_, j) => x.reduce((sum, y, i) => sum + Math.abs(y * along[i * k + j]), 0))) || 1);
    const met = [], meets = (x, u, give) => {
      const size = Math.hypot(...u);
      if (!(size > REST.acts)) return false;
      const stiff = times(u, times(corner, u, k, k, 1), 1, k, 1)[0] / size ** 2;
      const factor = Math.sqrt(Math.min(Math.max(1, stiff) / size ** 2, 1 / give));
      return met.push({ d: shared(x, factor), own: -give * factor ** 2 }) > 0;
    };
    const scaled = this.held.map((x) => shared(x, share(x))), columns = scaled.map(work), turned = orthogonal(columns);
    const mixed = turned.map((v) => scaled.reduce((sum, x, j) => sum.map((y, i) => y + v[j] * x[i]), new Float64Array(6)));
    this.held = mixed.filter((x, j) => !meets(x, columns[j], 0));
    const working = this.sprung.filter(({ d }) => Math.hypot(...work(d)) * share(d) > REST.acts);
    this.sprung = this.sprung.filter((spring) => !working.includes(spring));
    for (const { d, give } of working.length > 1 ? this.apart(working, work) : working) {
      const factor = share(d), x = d.map((y) => y * factor);
      if (meets(x, work(x), give * factor ** 2)) this.log -= 2 * Math.log(factor);
      else this.sprung.push({ d, give });
    }
    this.forces += met.length;
    const kept = this.own.length, wide = kept + met.length, beside = new Float64Array(6 * wide);
    for (let i = 0; i < 6; i++) for (let j = 0; j < wide; j++) beside[i * wide + j] = j < kept ? this.beside[i * kept + j] : met[j - kept].d[i];
    Object.assign(this, { beside, own: [...this.own, ...met.map(({ own }) => own)] });
  }

  /**
   * Forces of compliance 1 that do work on different deflections, in place of those of springs; the others are kept. Springs
   * that hold the same motion have forces against each other that do no work, however stiff they are.
   */
  apart(springs, work) {
    const forces = springs.map(({ d, give }) => d.map((x) => x / Math.sqrt(give))), columns = forces.map(work), turned = orthogonal(columns);
    const amounts = columns.map((x) => Math.hypot(...x)), least = REST.acts * Math.max(...amounts), summed = (v, i, of) => forces.reduce((sum, x, j) => sum + of(v[j] * x[i]), 0);
    const mixed = turned.map((v) => Float64Array.from({ length: 6 }, (_, i) => summed(v, i, Number)));
    const works = (_, j) => amounts[j] > least, sprung = (d) => ({ d, give: 1 });
    // what cancels in those kept leaves rounding, which would hold what is soft
    mixed.forEach((x, j) => { if (!works(x, j)) this.sprung.push(sprung(x.map((y, i) => (Math.abs(y) > REST.acts * summed(turned[j], i, Math.abs) ? y : 0)))); });
    return mixed.filter(works).map(sprung);
  }

  /** Supports at a tip, whose forces are unknown; springs have compliances. */
  supports(numbers, { names: { length: several } }) {
    for (let m = 0; m < several; m++) {
      const d = numbers.slice(6 * m, 6 * m + 6), k = numbers[6 * several + m];
      if (k === Infinity) this.held.push(d);
      else if (k > 0) this.sprung.push({ d, give: 1 / k });
    }
  }

  /** Scales of the deflections: free ones by the terms of the stiffness against motions of their kind, others 1. */
  scale(roots, unit, k) {
    const most = (at) => Math.max(...at.map((i) => this.amount[i])), turned = most([21, 28, 35]), moved = Math.max(most([0, 7, 14]), turned / this.reach ** 2);
    return Float64Array.from({ length: k }, (_, j) => {
      const size = [0, 1, 2, 3, 4, 5].reduce((sum, i) => sum + (i < 3 ? moved : turned) * roots[i * k + j] ** 2, 0);
      return unit[j * (k + 1)] <= 0 && size > 0 ? 1 / Math.sqrt(size) : 1;
    });
  }

  /** The springs of a joint, and its rotor; `further` stiffens the one about its axis. */
  joint(numbers, { names: { length: several } }, square, further) {
    const [stiffness, coupling] = [numbers.slice(6 * several, 7 * several), numbers.subarray(7 * several, 7 * several + 36)], [inertia, ratio] = numbers.subarray(7 * several + 36);
    stiffness[several - 1] += further;
    const given = [...stiffness.keys()].filter((j) => stiffness[j] !== Infinity), k = given.length, turning = square * inertia;
    const spin = [0, 1, 2, 3, 4, 5].map((i) => (i < 3 ? 0 : numbers[6 * (several - 1) + i])), last = given.at(-1) === several - 1 ? k - 1 : -1;
    if (k > 0) {
      const roots = Float64Array.from({ length: 6 * k }, (_, i) => numbers[6 * given[i % k] + Math.floor(i / k)] / Math.sqrt(stiffness[given[i % k]] || 1));
      const give = last < 0 ? 0 : ratio * spin.reduce((sum, x, i) => sum + x * roots[i * k + last], 0), unit = new Float64Array(k * k), coupled = times(coupling, roots, 6, 6, k);
      given.forEach((j, i) => { unit[i * (k + 1)] = Number(stiffness[j] > 0); });
      if (last >= 0) {
        unit[last * (k + 1)] -= turning * give * give;
        for (let i = 0; i < 6; i++) coupled[i * k + last] -= turning * spin[i] * give;
      }
      this.release(roots, k, unit, coupled);
    }
    this.add(-turning, outer(spin));
  }
}

/** The arm at a frequency from its tip to its base, with springs at ports; null where a link would need too many pieces. */
function condensed(arm, omega, springs, trail) {
  const counts = arm.counts ?? piecesFor(arm, omega);
  if (!counts) return null;
  const beyond = new Beyond(arm.rest.reach, trail);
  inwards(arm, omega, counts, springs, beyond);
  beyond.judge(beyond.own);
  return beyond;
}

/** Do what `beyond` does at all parts of an arm at a frequency, from its tip to its base. */
function inwards(arm, omega, counts, springs, beyond) {
  const { rest, firsts, written: { rest: { steps }, baseLinks } } = arm, square = omega * omega, { trail } = beyond;
  const spring = (at) => springs.forEach((each) => { if (each.at === at) beyond.add(each.k, outer(each.vector)); });
  for (const step of [...steps].reverse()) {
    const { kind, at, link } = step, numbers = rest.found.subarray(at), first = firsts[link + baseLinks];
    if (kind === "rigid") beyond.rigid(numbers.subarray(0, 36));
    else if (kind === "mass") beyond.add(-square, numbers);
    else if (kind === "turning") for (let k = 0; k < 9; k++) beyond.at(21 + 6 * Math.floor(k / 3) + (k % 3), numbers[k]);
    else if (kind === "joint") beyond.joint(numbers, step, square, arm.links[first].motor ?? motorOf(springs, first) ?? 0);
    else if (kind === "support") beyond.supports(numbers, step);
    else if (kind === "base") beyond.base(numbers);
    else if (kind === "bar") {
      trail?.push({ point: link });
      beyond.rigid(numbers.subarray(0, 36));
      trail?.push({ point: link });
      spring(first);
    } else {
      const ends = [0, ...(arm.shares?.(link + baseLinks) ?? []), 1];
      for (let part = ends.length - 2; part >= 0; part--) {
        spring(first + part);
        const [from, to] = ends.slice(part), count = Math.max(1, Math.ceil(counts[link] * (to - from)));
        for (const transfer of beyond.transfers(arm, link, from, to, count, square).reverse()) {
          trail?.push({ point: link });
          beyond.piece(transfer);
        }
      }
      trail?.push({ point: link });
    }
  }
}

/** Sign and logarithm of the determinant, and count of modes below; `falls` where an eigenvalue is negative beyond rounding. */
function evaluate(arm, omega, kind, springs = []) {
  const beyond = condensed(arm, omega, springs);
  if (!beyond) return { omega, sign: 1, log: 0, count: 2 ** 53, noise: Infinity, falls: true };
  const { log, clear, forces } = beyond, count = beyond.count - forces;
  return { omega, sign: count % 2 === 0 ? 1 : -1, log, count, noise: clear ? 0 : Infinity, falls: beyond.fallen > forces };
}

/** How far beside modes no eigenvalue is within rounding of zero: as near as rounding allows, up to the widest; as the library. */
function clearAside(arm, first, last) {
  let aside = REST.close;
  while (aside < REST.widest && [first * (1 - aside), last * (1 + aside)].some((at) => evaluate(arm, at, "double").noise > 0)) aside *= 10;
  return aside;
}

/** The frequencies of zero of an arm that its loads neither buckle nor drive from its posture. */
function zerosUnderLoads(arm) {
  requireRoomAtRest(arm);
  requireHeld(arm);
  const { count, noise, falls } = evaluate(arm, 0, "double"), loose = arm.rest.held?.loose ?? arm.zeros > 0;
  if (loose ? falls : count > 0 || noise > 0) throw new Error("the loads buckle this arm, or push it out of this posture: it has no frequencies there.");
  return loose ? evaluate(arm, REST.nearlyZero * arm.scale, "double").count : 0;
}

/** Refuses loads that exert a force in a spring of zero stiffness, as the library. */
function requireHeld({ rest: { found, lengths }, written: { rest: { steps } } }) {
  const joints = steps.filter(({ kind }) => kind === "joint").map(({ at, link, names: { length: n }, names }) => ({ link, names, directions: found.subarray(at, at + 6 * n), stiffness: found.subarray(at + 6 * n, at + 7 * n), load: found.subarray(at + 7 * n + 38, at + 7 * n + 44) }));
  const most = (from) => joints.reduce((size, { load }) => Math.max(size, ...load.subarray(from, from + 3).map(Math.abs)), 0), force = most(0), moment = Math.max(most(3), force * lengths);
  if (!(Number.isFinite(force) && Number.isFinite(moment))) throw new Error("the forces at rest are not finite; check the loads and masses and their units (m/s^2, N, kg).");
  for (const { link, names, directions, stiffness, load } of joints) stiffness.forEach((k, j) => {
    const own = directions.subarray(6 * j, 6 * j + 6), turns = own.subarray(3).some((x) => x !== 0), size = Math.abs(own.reduce((sum, x, i) => sum + x * load[i], 0));
    if (k === 0 && size > REST.balanced * (turns ? moment : force)) throw new Error(`link${link + 1}.${names[j]} = 0: nothing holds the arm against a ${turns ? "moment" : "force"} of ${Number(size.toPrecision(4))} N${turns ? " m about" : " along"} it; give it a stiffness greater than 0.`);
  });
}

/** As `shape`, of an arm under loads: the deflection that is left at the base moves what is beyond it. */
function shapeUnderLoads(arm, omega) {
  const { exact, multiplicity } = modeAt(arm, omega), { pieces, baseLinks } = arm.written, trail = [];
  const counts = piecesFor(arm, exact)?.map((several) => pieces * Math.ceil(several / pieces));
  const { own } = condensed({ ...arm, counts, once: true }, exact, [], trail);
  if (own.length === 0) throw new Error("no deflection answers to this mode alone, so that its shape cannot be drawn.");
  const least = own.reduce((best, x, k) => (Math.abs(x) < Math.abs(own[best]) ? k : best), 0);
  let kept = own.map((_, k) => Number(k === least)), motion = new Float64Array(6);
  const points = arm.rest.links.map(() => []);
  for (const { matrix, point, along, k, size, values, vectors, acted, open } of trail.reverse()) {
    if (point !== undefined) points[point].push(motion);
    else if (matrix) motion = times(matrix, motion, 6, 6, 1);
    else {
      const z = Float64Array.from(values, (value, j) => (open.includes(j) ? kept[open.indexOf(j)] : -motion.reduce((sum, x, i) => sum + x * acted[i * size + j], 0) / value));
      const given = times(vectors, z, size, size, 1), moved = times(along, given.subarray(0, k), 6, k, 1);
      kept = [...given.subarray(k)]; // the forces that were met here stand last, and nothing further out knows them
      motion = motion.map((x, i) => x + moved[i]);
    }
  }
  const frames = posed(arm).slice(baseLinks), outers = places(arm);
  const found = frames.map(({ axes, inner, along }, i) => {
    const every = arm.rest.links[i] ? (points[i].length - 1) / pieces : 1, shown = points[i].filter((_, p) => p % every === 0), { outer } = outers[i];
    return {
      at: shown.map((_, p) => inner.map((x, k) => x + (outer[k] - x) * (p / (shown.length - 1)))),
      moved: shown.map((u) => along(axes, u.subarray(0, 3))),
      turned: shown.map((u) => along(axes, u.subarray(3, 6))),
    };
  });
  return { ...normalised(found), multiplicity };
}
