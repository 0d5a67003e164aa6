// Supports of arms in space: springs as long as all give way; else all are loads that the stiffness carries along.

/** The arm with the supports at its tips, in the axes of their links: springs, or all of them loads where one is rigid. */
function supported(arm) {
  const frames = arm.links.some(({ supports }) => supports.length > 0) ? posed(arm) : [];
  const supports = arm.links.flatMap((link, at) => link.supports.map(([ground, turning, from]) => ({ at, from, k: arm.values[from], vector: forceAt(inAxes(frames[at].axes, ground), link.tip, turning) })));
  const carries = Number(supports.some(({ k }) => k === Infinity)), carrying = arm.tapes.carrying[carries];
  if (!carrying) throw new Error(`${arm.written.addresses[supports.find(({ k }) => k === Infinity).from]} = Infinity: of so many supports none can be rigid here; give it a finite stiffness.`);
  const loads = carries ? supports.map((support, number) => ({ ...support, number, law: lawOf(support.k) })) : [];
  return { ...arm, supports: carries ? [] : supports, loads, carries, carrying };
}

/** The law of a support, unit and a pair of the root of its stiffness: unit * force = root^2 * motion. */
function lawOf(k) {
  if (k === Infinity) return [0, 1, 0];
  rootOfPair(k, 0);
  return [1, H, L];
}

/** Supports that are loads at the outer end of link `i`, in the stiffness outboard of it. */
function addLoads({ loads }, i, high, low) {
  for (const { at, number, vector } of loads) {
    if (at !== i) continue;
    const begin = ENTRIES + 7 * number + (number * (number - 1)) / 2;
    vector.forEach((x, k) => {
      addPairs(high[begin + k], low[begin + k], -x, 0);
      high[begin + k] = H; low[begin + k] = L;
    });
  }
}

/** The stiffness and the laws of the supports that are loads as inputs of pairs; where they end. */
function lawsBehind({ loads }, [high, low]) {
  xh.set(high); xl.set(low);
  let to = high.length;
  for (const { law: [unit, root, rest] } of loads) {
    xh[to] = unit; xl[to++] = 0;
    xh[to] = root; xl[to++] = rest;
  }
  return to;
}

/** What supports that are loads make of the determinant: their pivots, and behind them those of each alone; in `results`. */
function pivotsOf(arm, kind) {
  lawsBehind(arm, [wideH, wideL]);
  if (kind === "double") arm.carrying.pivots.double.runPairs(xh, xl, results, rests); else arm.carrying.pivots.float64.run(xh, results);
  return results;
}

/** Refuses rigid supports where the arm is rigid, or that others make redundant; as the library. */
function requireRoom(arm) {
  if (!arm.loads.length) return;
  evaluate(arm, SLOWLY * arm.scale, "double");
  const found = pivotsOf(arm, "double");
  for (const { number, k, from } of arm.loads) {
    const share = Math.abs(found[number] / found[arm.loads.length + number]);
    if (k === Infinity && !(share > NO_ROOM)) throw new Error(`${arm.written.addresses[from]} = Infinity: the arm is rigid there, by its theory, its rigid links or other rigid supports; give it a large finite stiffness.`);
  }
}

/** The stiffness of what supports hold, where they are loads; itself where there are none. */
function heldBy(arm, wide) {
  if (!arm.loads.length) return wide[0];
  lawsBehind(arm, wide);
  arm.carrying.held.runPairs(xh, xl, results, rests);
  return results.slice(0, ENTRIES);
}

/** The forces of the supports that are loads, pairs apart, where the arm is moved at a place of this stiffness. */
function forcesFor(arm, wide, motion) {
  const size = arm.loads.length, found = [new Float64Array(size), new Float64Array(size)];
  if (!size) return found;
  const to = lawsBehind(arm, wide);
  xh.set(motion, to); xl.fill(0, to, to + 6);
  arm.carrying.forces.runPairs(xh, xl, ...found);
  return found;
}
