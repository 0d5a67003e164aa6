// Solves the arms of a file in the solver of the page: node solve_arms.mjs MODULE.mjs ARMS.json > RESULTS.json
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , module, arms] = process.argv;
const solver = await import(pathToFileURL(module).href);
const results = JSON.parse(readFileSync(arms, "utf8")).map(({ arm, set, modes, below, shapes, points, slopes, ports }) => {
  try {
    const given = Object.fromEntries((set || []).map(([address, value]) => [address, Number(value)]));
    const loaded = solver.setValues(solver.loadArm(arm), given);
    const begin = performance.now();
    const found = solver.frequencies(loaded, modes);
    const ms = performance.now() - begin;
    const lists = Object.fromEntries(Object.entries(found).map(([name, x]) => [name, Array.from(x)]));
    const counts = (below || []).map((omega) => solver.countBelow(loaded, omega));
    const drawn = (shapes || []).map((k) => {
      const s = solver.shape(loaded, found.omega[k], points);
      if (s.links) return s.links;
      return Object.fromEntries(["x", "y", "x0", "y0", "u", "v"].map((name) => [name, s[name].map((row) => Array.from(row))]));
    });
    const changes = (slopes || []).map((k) => Array.from(solver.slopes(loaded, found.omega[k], loaded.written.addresses)));
    const answers = (ports || []).map(([omega, ...more]) => Array.from(solver.receptances(loaded, omega, ...more)));
    return { ...lists, counts, shapes: drawn, slopes: changes, answers, ms };
  } catch (error) {
    return { error: error.message, stack: error.stack };
  }
});
process.stdout.write(JSON.stringify(results));
