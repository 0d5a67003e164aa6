// Supports and free joints of arms in space under loads: how they share the loads, as `spatial.preload.held` of the library.

/** The arm with its supports, which are parts of its chain under loads. */
const supported = (arm) => arm;

/**
 * The forces of `n` supports, of which those of stiffness zero have none: by the compatibility of displacements, and the
 * equilibrium of free joints, of `f` springs those of stiffness zero. Also the room of each support, and whether free
 * joints are `loose`: whether they move without resistance of a support.
 */
function heldAtRest(found, [n, f]) {
  let at = 0;
  const [stiffness, springs, motion, load, compliance, moves] = [n, f, n, f, n * n, n * f].map((size) => found.subarray(at, (at += size)));
  const own = [...stiffness.keys()].filter((i) => stiffness[i] !== 0), free = [...springs.keys()].filter((j) => springs[j] === 0), m = own.length;
  // deflections of free joints, each scaled to move the supports by the same amount, turned into some that they resist alone
  const columns = free.map((j) => Float64Array.from(own, (i) => moves[i * f + j])), sizes = columns.map((column) => Math.hypot(...column)), most = Math.max(0, ...sizes);
  const scale = sizes.map((size) => (size > REST.still * most ? 1 / size : 0)), scaled = columns.map((column, j) => column.map((x) => x * scale[j]));
  const turned = orthogonal(scaled), hindered = [...scaled.keys()].filter((j) => Math.hypot(...scaled[j]) > REST.still), size = m + hindered.length;
  const row = own.map((i, k) => 1 / (Math.sqrt(compliance[i * n + i]) || Math.hypot(...hindered.map((j) => scaled[j][k])) || 1));
  const matrix = new Float64Array(size * size), known = new Float64Array(size);
  own.forEach((i, k) => {
    known[k] = -motion[i] * row[k];
    own.forEach((j, l) => { matrix[k * size + l] = compliance[i * n + j] * row[k] * row[l]; });
    hindered.forEach((j, l) => { matrix[k * size + m + l] = matrix[(m + l) * size + k] = scaled[j][k] * row[k]; });
  });
  hindered.forEach((j, l) => { known[m + l] = -free.reduce((sum, x, k) => sum + load[x] * scale[k] * turned[j][k], 0); });
  const answer = times(inverse(matrix, size), known, size, size, 1), forces = new Float64Array(n);
  own.forEach((i, k) => { forces[i] = row[k] * answer[k]; });
  return { forces, compliances: Float64Array.from({ length: n }, (_, i) => compliance[i * (n + 1)]), rooms: roomsOf(compliance, n, own, hindered.map((j) => scaled[j])), loose: hindered.length < free.length };
}

/**
 * How much of what each support moves the others before leave; Infinity where it resists free joints that those do not.
 * Supports that do are combined so that they move no free joint.
 */
function roomsOf(compliance, n, own, moves) {
  const rooms = new Float64Array(n), leading = [], others = [];
  own.forEach((i, k) => {
    const resisted = Float64Array.from(moves, (column) => column[k]), forces = Float64Array.from({ length: n }, (_, j) => Number(i === j)), before = Math.hypot(...resisted);
    const less = (x, y, factor) => { for (let j = 0; j < x.length; j++) x[j] -= factor * y[j]; };
    for (const other of leading) {
      const share = times(other.resisted, resisted, 1, resisted.length, 1)[0] / times(other.resisted, other.resisted, 1, resisted.length, 1)[0];
      less(resisted, other.resisted, share);
      less(forces, other.forces, share);
    }
    if (Math.hypot(...resisted) > REST.still * before) {
      leading.push({ resisted, forces });
      rooms[i] = Infinity;
      return;
    }
    const moved = (by) => times(times(by, compliance, 1, n, n), forces, 1, n, 1)[0], alone = moved(forces);
    for (const other of others) less(forces, other.forces, moved(other.forces) / other.left);
    const left = moved(forces);
    rooms[i] = Math.abs(left / alone);
    others.push({ forces, left });
  });
  return rooms;
}

/** Refuses rigid supports that others make redundant, or where the arm is rigid. */
function requireRoomAtRest({ rest: { held, found }, written: { rest: { steps } } }) {
  for (const { kind, at, names, first } of steps) if (kind === "support") names.forEach((name, k) => {
    if (found[at + 6 * names.length + k] === Infinity && !(held.rooms[first + k] > REST.noRoom)) throw new Error(`${name} = Infinity: the arm is rigid there, by its theory, its rigid links or other rigid supports; give it a large finite stiffness.`);
  });
}
