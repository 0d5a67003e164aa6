// How the arm answers to a harmonic force: displacement at one tip for a unit force at another, over frequency.

const ASKED_AT_ONCE = 25, UNIFORM = 240;
const UNITS = (motion, force) => `${motion ? "rad" : "m"}/${force ? "N m" : "N"}`;

class ForcedView {
  constructor(page) {
    this.page = page;
    this.open = null;
    this.points = [];
    const { space, solved } = page.about, number = space ? solved.whole.length - solved.baseLinks : solved.ends.length;
    const directions = space ? ["x", "y", "z", "rx", "ry", "rz"] : ["x", "y", "turn"];
    this.ports = Array.from({ length: number }, (_, k) => directions.map((direction) => ({ link: k, direction, name: `tip_${k + 1}.${direction}` }))).flat();
    for (const id of ["force", "motion"]) {
      byId(id).replaceChildren(...this.ports.map(({ name }) => element("option", name, { value: name })));
      byId(id).value = this.ports.find(({ name }) => name === `tip_${number}.${space ? "z" : "y"}`).name;
      byId(id).addEventListener("change", () => this.chosen());
    }
    byId("loss").addEventListener("change", () => this.chosen());
    byId("response").addEventListener("toggle", () => this.chosen());
    byId("response-csv").addEventListener("click", () => offer(new Blob([this.csv()], { type: "text/csv" }), "response.csv"));
    offerPictures("response-plot", "response", (canvas) => this.draw(canvas));
  }

  written() {
    if (!byId("response").open) return {};
    return { force: byId("force").value, motion: byId("motion").value, ...(this.loss() > 0 ? { loss: this.loss() } : {}) };
  }

  read(given) {
    const known = ["force", "motion"].filter((id) => this.ports.some(({ name }) => name === given.get(id)));
    for (const id of known) byId(id).value = given.get(id);
    byId("loss").value = positive(given.get("loss")) || "";
    byId("response").open = known.length > 0;
  }

  loss() {
    return positive(byId("loss").value) ?? 0;
  }

  chosen() {
    this.page.keep();
    this.ask();
  }

  // Frequencies between which nothing is missed: evenly, and close about every mode.
  places(omega) {
    const known = Array.from(omega).filter((x) => x > 0);
    if (known.length === 0) return [];
    const low = 0.2 * known[0], high = 1.05 * known.at(-1), found = Array.from({ length: UNIFORM }, (_, k) => low * (high / low) ** (k / (UNIFORM - 1)));
    for (const x of known) for (const aside of [3e-5, 3e-4, 3e-3, 0.01, 0.02]) found.push(x * (1 - aside), x * (1 + aside));
    return found.sort((a, b) => a - b);
  }

  ask() {
    const { page } = this, { answer } = page;
    if (!answer || !byId("response").open) return;
    const omega = this.places(answer.omega), [force, motion] = ["force", "motion"].map((id) => this.ports.find(({ name }) => name === byId(id).value));
    const of = { force, motion, loss: this.loss() };
    Object.assign(this, { of, points: [] });
    const next = () => {
      const some = omega.slice(this.points.length, this.points.length + ASKED_AT_ONCE);
      if (some.length === 0) return;
      page.solver.aside({ kind: "receptances", values: answer.values, omega: some, first: force, second: motion, loss: of.loss }, (found, error) => {
        if (this.of !== of) return; // of what was asked before
        if (!found) { byId("response-note").textContent = error; return; }
        some.forEach((x, k) => this.points.push([x / (2 * Math.PI), found[k]]));
        this.draw();
        next();
      });
    };
    if (omega.length === 0) byId("response-note").textContent = "This arm has no frequencies: nothing gives way.";
    next();
  }

  draw(canvas = byId("response-plot")) {
    const known = this.points.filter(([, y]) => y > 0 && Number.isFinite(y));
    if (known.length === 0 || !byId("response").open) return;
    const { force, motion } = this.of, unit = UNITS(/^r|turn/.test(motion.direction), /^r|turn/.test(force.direction));
    const sizes = known.map(([, y]) => y).sort((a, b) => a - b), middle = sizes[Math.floor(sizes.length / 2)];
    const ends = { low: Math.max(sizes[0], 1e-5 * middle), high: Math.min(sizes.at(-1), 1e4 * middle) };
    const hertz = this.places(this.page.answer.omega).map((x) => x / (2 * Math.PI));
    drawPlot(canvas, {
      x: { low: hertz[0], high: hertz.at(-1), logarithmic: true, label: "frequency [Hz]" },
      y: { ...(ends.high > ends.low ? ends : { low: 0.5 * middle, high: 2 * middle }), logarithmic: true, label: `${motion.name} for ${force.name} [${unit}]` },
      lines: [{ x: known.map(([x]) => x), y: known.map(([, y]) => y), colour: COLOURS[0] }],
      marks: [{ x: this.page.hertz(this.page.mode), colour: COLOURS[1] }],
    });
    if (canvas.vector) return;
    byId("response-plot").setAttribute("aria-label", `${motion.name} for a unit force at ${force.name}, over frequency; CSV has the numbers.`);
    const { loss } = this.of, missing = this.points.length - known.length;
    byId("response-note").textContent = `${loss > 0 ? `All stiffness has the loss factor ${loss}` : "Without damping, so that peaks have no height"}; the line is the chosen mode.${missing ? ` ${missing} answers, too small beside those at the ports themselves, are left out.` : ""}`;
  }

  csv() {
    const { force, motion } = this.of ?? { force: {}, motion: {} };
    return csvText(["frequency [Hz]", `${motion.name} for ${force.name} [${UNITS(/^r|turn/.test(motion.direction), /^r|turn/.test(force.direction))}]`], this.points);
  }
}
