// The frequencies over the range of one value, branches followed through where they meet.

const PLACES = 41;

class Along {
  constructor(page) {
    this.page = page;
    this.points = [];
    byId("along-value").replaceChildren(...page.about.sliders.map((slider) => element("option", slider.label ?? slider.address, { value: slider.address })));
    byId("along-value").addEventListener("change", () => this.chosen());
    byId("along").addEventListener("toggle", () => this.chosen());
    byId("along-csv").addEventListener("click", () => offer(new Blob([this.csv()], { type: "text/csv" }), "curves.csv"));
    offerPictures("along-plot", "curves", (canvas) => this.draw(canvas));
    byId("along-plot").addEventListener("click", ({ offsetX }) => {
      const { plot, slider } = this;
      if (plot) page.change(slider, Math.min(slider.high, Math.max(slider.low, plot.at(offsetX))), true);
    });
  }

  written() {
    return byId("along").open ? { along: byId("along-value").value } : {};
  }

  read(given) {
    const known = this.page.sliders.has(given.get("along"));
    if (known) byId("along-value").value = given.get("along");
    byId("along").open = known;
  }

  chosen() {
    this.page.keep();
    this.ask();
  }

  // Curves stay while their own value alone is moved.
  ask() {
    const { page } = this, { answer } = page;
    if (!answer || !byId("along").open) return;
    const slider = page.sliders.get(byId("along-value").value), others = { ...answer.values, [slider.address]: null };
    const key = JSON.stringify([slider.address, Object.entries(others).sort()]);
    if (key !== this.key) this.points = [];
    Object.assign(this, { key, slider });
    this.draw();
    const next = () => {
      if (this.points.length === PLACES) return;
      const value = valueAt({ ...slider, rigid: false }, (STEPS * this.points.length) / (PLACES - 1));
      const question = { kind: "along", values: answer.values, addresses: [slider.address], value: inSi(slider, value), modes: page.about.modes };
      page.solver.aside(question, (found, error) => {
        if (this.key !== key) return; // of what was asked before
        const missing = Array(page.about.modes).fill(NaN);
        this.points.push({ value, ...(found ?? { omega: missing, certified: missing.map(() => 0), slope: missing }) });
        byId("along-note").textContent = error;
        this.draw();
        next();
      });
    };
    next();
  }

  draw(canvas = byId("along-plot")) {
    const { points, slider, page } = this, known = points.flatMap(({ omega }) => Array.from(omega)).filter(Number.isFinite);
    if (known.length === 0) return;
    const own = shownValue(slider, page.answer.values[slider.address] ?? page.first[slider.address]);
    const branches = followed(points, (value) => inSi(slider, value));
    this.branches = branches;
    const plot = drawPlot(canvas, {
      x: { low: slider.low, high: slider.high, logarithmic: slider.logarithmic, label: `${slider.label ?? slider.address} [${slider.unit}]` },
      y: { ...rangeOf(known.map((x) => x / (2 * Math.PI))), label: "frequency [Hz]" },
      lines: branches.map((rows, k) => ({
        x: rows.map(([i]) => points[i].value), y: rows.map(([i, mode]) => points[i].omega[mode] / (2 * Math.PI)), colour: COLOURS[k % COLOURS.length],
      })),
      marks: Number.isFinite(own) ? [{ x: own, colour: themeColour("--text") }] : [],
    });
    if (canvas.vector) return;
    this.plot = plot;
    const doubtful = points.filter(({ certified }) => !Array.from(certified).every((sure) => sure === 1)).length;
    const open = points.length < PLACES ? `${points.length} of ${PLACES} values.` : "A click sets the value.";
    byId("along-note").textContent = doubtful ? `${open} At ${doubtful} values not all modes are certified.` : open;
    byId("along-plot").setAttribute("aria-label", `Frequencies of all modes over ${slider.label ?? slider.address}; CSV has the numbers.`);
  }

  csv() {
    const { points, slider, branches } = this;
    if (!slider || points.length === 0) return "";
    const rows = branches.flatMap((own, k) => own.map(([i, mode]) => [points[i].value, k + 1, mode + 1, points[i].omega[mode] / (2 * Math.PI), points[i].certified[mode] ? "certified" : "not_certified"]));
    return csvText([`${slider.address} [${slider.unit}]`, "branch", "mode", "frequency [Hz]", "status"], rows);
  }
}

// From zero, or, where the lowest would lie on the axis, by their logarithm.
function rangeOf(hertz) {
  const low = Math.min(...hertz), high = Math.max(...hertz);
  return low > 0 && high > 20 * low ? { low: 0.9 * low, high: 1.1 * high, logarithmic: true } : { low: 0, high: 1.03 * high, logarithmic: false };
}
