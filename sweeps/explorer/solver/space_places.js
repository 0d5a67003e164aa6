// Where an arm in space is at rest, and how its modes are drawn.

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
  return arm.rest ? shapeUnderLoads(arm, omega) : shapeAlong(arm, omega);
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
