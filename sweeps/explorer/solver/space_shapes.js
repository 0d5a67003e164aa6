// Mode shapes in space, from the stiffness beyond every piece of the links.

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

/** As `shape`, from the stiffness beyond every piece. */
function shapeAlong(arm, omega) {
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
