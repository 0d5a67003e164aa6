// Mode shapes in space, and where the arm is at rest.

const keepWide = () => [wideH.slice(), wideL.slice()];

/** What a tape of pairs makes of the inputs in xh, xl, as the stiffness. */
function intoWide(tape) {
  tape.runPairs(xh, xl, results, rests);
  for (let k = 0; k < wideH.length; k++) { wideH[k] = results[k]; wideL[k] = rests[k]; }
}

/** Planes of a piece of a member as the first inputs; where they end. */
function piecesAt(arm, link, omega) {
  const size = membersAt(arm, link.member.piece, omega, "double"), h = planesH.slice(0, size), l = planesL.slice(0, size);
  return { set: () => { xh.set(h); xl.set(l); return size; } };
}

/** The stiffness beyond every piece, at the inner end of every link and before every joint. */
function inward(arm, omega, pieces) {
  startBeyond(arm, omega);
  const kept = [];
  for (let i = arm.links.length - 1; i >= 0; i--) {
    const link = arm.links[i], own = { outboard: [], piece: null };
    addLoads(arm, i, wideH, wideL);
    addSprings(arm.supports, i, wideH, wideL);
    if (link.member) {
      xh[0] = sq[0]; xl[0] = sq[1];
      for (let k = 0; k < 10; k++) { xh[1 + k] = link.hi[BODY_MASS + k]; xl[1 + k] = link.lo[BODY_MASS + k]; }
      xh.set(wideH, 11); xl.set(wideL, 11);
      intoWide(arm.carrying.tip);
      own.piece = piecesAt(arm, link, omega);
      for (let p = pieces - 1; p >= 0; p--) {
        own.outboard[p] = keepWide();
        const end = own.piece.set();
        xh.set(wideH, end); xl.set(wideL, end);
        intoWide(arm.carrying.before_piece);
      }
    }
    own.inner = keepWide();
    inputsOf(arm, link, true);
    for (let k = 0; k < 10; k++) { xh[1 + BODY_MASS + k] = 0; xl[1 + BODY_MASS + k] = 0; } // the tip has been taken off
    intoWide(link.layout.formulas[arm.carries].joint_before);
    own.before = keepWide();
    own.held = heldBy(arm, own.before);
    kept[i] = own;
  }
  return kept;
}

const DIAGONAL = [0, 6, 11, 15, 18, 20];

/** Which way the base, or the joint that answers most to the mode, is moved by next to nothing. */
function startOf(kept, aside, reach) {
  const sizes = (w) => DIAGONAL.map((k, i) => Math.abs(w[k]) / (i < 3 ? 1 : reach * reach));
  const ratios = kept.map(({ held }, i) => Math.max(...sizes(held)) / Math.max(...sizes(aside[i].held)));
  const i = ratios[0] > 1e4 ? 0 : ratios.indexOf(Math.max(...ratios));
  if (!(ratios[i] > 1e2)) throw new Error("no joint feels this mode, so that its shape cannot be drawn from there.");
  const own = sizes(kept[i].held);
  return { i, direction: own.indexOf(Math.max(...own)) };
}

/** Where every link is: axes of its section as rows of columns, inner and outer end of its elastic part. */
function posed(arm) {
  let axes = [1, 0, 0, 0, 1, 0, 0, 0, 1], end = [0, 0, 0];
  const along = (r, v) => [0, 3, 6].map((k) => r[k] * v[0] + r[k + 1] * v[1] + r[k + 2] * v[2]);
  return arm.links.map((link) => {
    const n = link.hi, before = axes, o = along(before, n.subarray(9, 12));
    axes = [0, 3, 6].flatMap((row) => [0, 1, 2].map((k) => before[row] * n[k] + before[row + 1] * n[3 + k] + before[row + 2] * n[6 + k]));
    const inner = end.map((x, k) => x + o[k]), length = link.member ? link.member.whole.length : 0;
    end = inner.map((x, k) => x + axes[3 * k] * length);
    return { axes, inner, outer: end, along };
  });
}

/** Axes of sections and ends of the elastic parts at rest, link by link, those of an elastic base left out. */
export function places(arm) {
  return posed(arm).map(({ axes, inner, outer, along }, i) => {
    const { bar } = arm.written.whole[i];
    return { axes, inner, outer: bar === undefined ? outer : outer.map((x, k) => x + along(axes, [arm.values[bar], 0, 0])[k]) };
  }).slice(arm.written.baseLinks);
}

/**
 * The mode at `omega`, which must be one of the frequencies: of each link the points at rest, `at`, displacements `moved`
 * and rotations `turned`, lists of three in the axes of the ground, from its inner to its outer end; of a rigid link at
 * both ends. The largest displacement is of size 1; of `multiplicity` > 1 modes at one frequency it is one.
 */
export function shape(arm, omega) {
  if (!(omega > 1e-9 * arm.scale)) throw new Error(`omega = ${omega}: a mode of frequency zero is a motion without strain, which has no shape here.`);
  if (arm.rest) return shapeUnderLoads(arm, omega);
  const { exact, multiplicity } = modeAt(arm, omega), { pieces, baseLinks } = arm.written, frames = posed(arm);
  const reach = Math.hypot(...frames.at(-1).outer) || 1;
  const aside = inward(arm, exact * (1 + 1e-4), pieces), kept = inward(arm, exact, pieces);
  const begin = startOf(kept, aside, reach), dh = new Float64Array(6), dl = new Float64Array(6);
  const found = [], none = new Float64Array(arm.loads.length);
  let forces = [none, none];
  arm.links.forEach((link, i) => {
    const { axes, inner, outer, along } = frames[i], own = kept[i], row = { at: [], moved: [], turned: [] };
    if (i === begin.i) {
      dh[begin.direction] = 1;
      forces = forcesFor(arm, own.before, dh);
    }
    const [ih, il] = own.inner, end = inputsOf(arm, link, true), n = stiffnessAt(arm, link);
    const moving = (to) => { xh.set(dh, to); xl.set(dl, to); xh.set(forces[0], to + 6); xl.set(forces[1], to + 6); };
    xh.set(ih, n); xl.set(il, n);
    moving(end);
    const step = (tape) => { tape.runPairs(xh, xl, results, rests); dh.set(results.subarray(0, 6)); dl.set(rests.subarray(0, 6)); };
    step(link.layout.formulas[arm.carries].joint_beyond);
    const put = (p) => {
      row.at.push(inner.map((x, k) => x + (outer[k] - x) * (p / pieces)));
      row.moved.push(along(axes, dh.subarray(0, 3)));
      row.turned.push(along(axes, dh.subarray(3, 6)));
    };
    put(0);
    for (let p = 0; link.member && p < pieces; p++) {
      const at = own.piece.set(), [oh, ol] = own.outboard[p];
      xh.set(oh, at); xl.set(ol, at);
      moving(at + oh.length);
      step(arm.carrying.along_piece);
      put(p + 1);
    }
    const bar = arm.written.whole[i].bar;
    if (bar !== undefined) { // a rigid one moves as its base does
      const way = along(axes, [arm.values[bar], 0, 0]), [u] = row.moved, [t] = row.turned;
      const cross = [t[1] * way[2] - t[2] * way[1], t[2] * way[0] - t[0] * way[2], t[0] * way[1] - t[1] * way[0]];
      row.at.push(inner.map((x, k) => x + way[k]));
      row.moved.push(u.map((x, k) => x + cross[k]));
      row.turned.push([...t]);
    }
    found.push(row);
  });
  return { ...normalised(found.slice(baseLinks)), multiplicity };
}

/** The largest displacement is of size 1, its largest part positive; of a mode that only turns, the largest rotation. */
function normalised(found) {
  let size = 0, larger = 1;
  found.forEach(({ moved }) => moved.forEach((u) => {
    const length = Math.hypot(...u);
    if (length <= size * (1 + 1e-9)) return;
    size = length;
    larger = u.reduce((a, b) => (Math.abs(b) > Math.abs(a) * (1 + 1e-9) ? b : a));
  }));
  if (size === 0) { // nothing but turns
    found.forEach(({ turned }) => turned.forEach((u) => { size = Math.max(size, Math.hypot(...u)); }));
  }
  const factor = Math.sign(larger || 1) / size, scaled = (rows) => rows.map((u) => u.map((x) => x * factor));
  return { links: found.map(({ at, moved, turned }) => ({ at, moved: scaled(moved), turned: scaled(turned) })) };
}
