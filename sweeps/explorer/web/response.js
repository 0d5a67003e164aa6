// How the arm answers to a harmonic force: displacement at one port for a unit force at another, over frequency.

const ASKED_AT_ONCE = 25, UNIFORM = 240;
const UNITS = (motion, force) => `${motion ? "rad" : "m"}/${force ? "N m" : "N"}`;

class ForcedView {
  constructor(page) {
    this.page = page;
    this.points = [];
    const { space, solved, motors } = page.about, links = space ? solved.whole.length - solved.baseLinks : solved.ends.length;
    const turning = ["x", "y", "z", "rx", "ry", "rz"], directions = space ? [...turning, ...turning.map((x) => `link_${x}`)] : ["x", "y", "along", "across", "turn"];
    const about = { links, motors, directions, size: space ? 3 : 2 };
    this.choices = ["force", "motion"].map((id) => new PortChoice(id, about, () => this.chosen()));
    this.usual = `tip_${links}.${space ? "z" : "y"}`;
    for (const id of ["loss", "own-damping"]) byId(id).addEventListener("change", () => this.chosen());
    byId("own-damping").parentElement.hidden = !solved.damping;
    byId("response").addEventListener("toggle", () => this.chosen());
    byId("response-csv").addEventListener("click", () => offer(new Blob([this.csv()], { type: "text/csv" }), "response.csv"));
    offerPictures("response-plot", "response", (canvas) => this.draw(canvas));
  }

  written() {
    if (!byId("response").open) return {};
    const [force, motion] = this.choices.map(({ port }) => port?.name ?? this.usual), given = { force, motion };
    if (this.loss() > 0) given.loss = this.loss();
    if (!byId("own-damping").checked) given.own = 0;
    return given;
  }

  read(given) {
    const known = ["force", "motion"].map((id, k) => this.choices[k].choose(given.get(id)) || !this.choices[k].choose(this.usual));
    byId("loss").value = positive(given.get("loss")) || "";
    byId("own-damping").checked = given.get("own") !== "0";
    byId("response").open = known.includes(true);
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
    const omega = this.places(answer.omega), [force, motion] = this.choices.map(({ port }) => port), own = byId("own-damping").checked && Boolean(page.about.solved.damping);
    if (!force || !motion) {
      Object.assign(this, { of: null, points: [] });
      byId("response-note").textContent = "A station is a share of the link's length between 0 and 1; a direction has numbers, of which one is not 0.";
      return;
    }
    const of = { force, motion, loss: this.loss(), own };
    Object.assign(this, { of, points: [] });
    const next = () => {
      const some = omega.slice(this.points.length, this.points.length + ASKED_AT_ONCE);
      if (some.length === 0) return;
      page.solver.aside({ kind: "receptances", values: answer.values, omega: some, first: force.port, second: motion.port, loss: of.loss, own }, (found, error) => {
        if (this.of !== of) return; // of what was asked before
        if (!found) { byId("response-note").textContent = error; return; }
        some.forEach((x, k) => this.points.push([x / (2 * Math.PI), found[k]]));
        if (found.every((x) => x === 0)) byId("response-note").textContent = "A joint there is rigid: its motor moves nothing.";
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
    const { force, motion } = this.of, unit = UNITS(motion.turns, force.turns);
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
    const { loss, own } = this.of, damped = [own ? "with the damping of the file" : "", loss > 0 ? `all stiffness has the loss factor ${loss}` : ""].filter(Boolean).join("; "), missing = this.points.filter(([, y]) => Number.isNaN(y)).length;
    byId("response-note").textContent = `${damped ? damped[0].toUpperCase() + damped.slice(1) : "Without damping, so that peaks have no height"}; the line is the chosen mode.${missing ? ` ${missing} answers, too small beside those at the ports themselves, are left out.` : ""}`;
  }

  csv() {
    const { force, motion } = this.of ?? { force: {}, motion: {} };
    return csvText(["frequency [Hz]", `${motion.name} for ${force.name} [${UNITS(motion.turns, force.turns)}]`], this.points);
  }
}
