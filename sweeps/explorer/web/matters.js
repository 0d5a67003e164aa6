// What the chosen mode depends on: bars of how much its frequency changes as each value does by one step.

// By how much a value is changed, as text and in SI units.
function stepOf({ address, unit }, value) {
  if (unit === "degree") return ["1°", DEGREE];
  if (/offset|centre/.test(address)) return ["1 mm", 1e-3];
  return value === 0 ? [`1 ${unit}`, 1] : ["1 %", 0.01 * value];
}

class Matters {
  constructor(page) {
    this.page = page;
    this.found = [];
    byId("matters").addEventListener("toggle", () => this.ask());
    byId("matters-csv").addEventListener("click", () => offer(new Blob([this.csv()], { type: "text/csv" }), "sensitivities.csv"));
  }

  written() {
    return {};
  }

  read() {}

  // Asked when the arm has been solved; a mode next to another has no derivatives.
  ask() {
    const { page } = this, { answer, mode } = page;
    if (!answer || !byId("matters").open) return;
    byId("matters-head").textContent = `What mode ${mode + 1} depends on`;
    const own = answer.omega[mode], near = Math.min(...[mode - 1, mode + 1].map((k) => Math.abs((answer.omega[k] ?? Infinity) - own)));
    if (!(own > 0)) this.nothing("A mode of frequency zero depends on nothing.");
    else if (near < 1e-4 * own) this.nothing("Another mode is so close that neither changes steadily: move a value a little.");
    else {
      const addresses = page.about.sliders.map(({ address }) => address);
      page.solver.aside({ kind: "slopes", values: answer.values, omega: own, addresses }, (found, error) =>
        found ? this.show(mode, found) : this.nothing(error));
    }
  }

  nothing(why) {
    this.found = [];
    byId("bars").replaceChildren();
    byId("matters-note").textContent = why;
  }

  show(mode, slopes) {
    const { about, answer, first } = this.page;
    this.mode = mode;
    this.found = about.sliders
      .map((slider, k) => {
        const [step, size] = stepOf(slider, answer.values[slider.address] ?? first[slider.address]);
        return { slider, step, percent: 100 * slopes[k] * size };
      })
      .filter(({ percent }) => Number.isFinite(percent))
      .sort((a, b) => Math.abs(b.percent) - Math.abs(a.percent));
    const largest = Math.abs(this.found[0]?.percent) || 1;
    byId("bars").replaceChildren(...this.found.slice(0, 12).map(({ slider, step, percent }) => {
      const row = element("tr"), bar = element("span", "", { class: percent < 0 ? "bar less" : "bar" }), cell = element("td", "", { class: "barred" });
      bar.style.width = `${(100 * Math.abs(percent)) / largest}%`;
      cell.append(bar);
      row.append(element("th", slider.label ?? slider.address, { scope: "row" }), element("td", step), element("td", percent === 0 ? "0 %" : `${percent < 0 ? "−" : "+"}${shortNumber(Math.abs(percent), 3)} %`), cell);
      return row;
    }));
    const left = this.found.length - 12;
    byId("matters-note").textContent = left > 0 ? `The twelve largest; CSV has the ${left} others.` : "";
  }

  csv() {
    const rows = this.found.map(({ slider, step, percent }) => [slider.address, step, percent]);
    return csvText(["value", "step", `change of mode ${this.mode + 1} [%]`], rows);
  }
}
