// Branches: which modes at one point go on as which at the next.

/**
 * Branches as lists of [point, mode]: from each point to the next the modes go on whose values and slopes fit best half-way,
 * so that two that cross, or exchange what they are in less than a step, keep their own line.
 */
function followed(points, si) {
  const branches = (points[0]?.omega.length ? Array.from(points[0].omega, (_, k) => [[0, k]]) : []);
  const slopes = []; // of each branch, where it had one last
  for (let i = 1; i < points.length; i++) {
    const before = points[i - 1], after = points[i], step = si(after.value) - si(before.value), pairs = [];
    branches.forEach((own, k) => {
      const [at, mode] = own.at(-1);
      if (at !== i - 1) return;
      // where modes meet they have no slopes: a branch goes on with its last one
      const slope = (slopes[k] = Number.isFinite(before.slope[mode]) ? before.slope[mode] : (slopes[k] ?? 0)), middle = before.omega[mode] + 0.5 * step * slope;
      Array.from(after.omega).forEach((omega, j) => {
        const next = Number.isFinite(after.slope[j]) ? after.slope[j] : slope;
        pairs.push([Math.abs(middle - omega + 0.5 * step * next) + 0.5 * Math.abs(step * (slope - next)), k, j]);
      });
    });
    const taken = new Set(), gone = new Set();
    for (const [cost, k, j] of pairs.sort((a, b) => a[0] - b[0])) {
      if (Number.isNaN(cost) || taken.has(j) || gone.has(k)) continue;
      taken.add(j); gone.add(k);
      branches[k].push([i, j]);
    }
    Array.from(after.omega).forEach((omega, j) => { if (!taken.has(j) && Number.isFinite(omega)) branches.push([[i, j]]); });
  }
  return branches;
}
