// The arm of a sweep at any value of its axes, solved exactly and counted: what lies between the cells is not interpolated.

const inUnit = (column, value) => (column.unit === "degree" ? value * DEGREE : value);

// What values of the axes set, by addresses and in SI units; axes of several parameters stay at the cell.
function addressed(sweep, state, values) {
  const { addresses } = sweep.about.exact;
  return Object.fromEntries(sweep.axes.flatMap((axis, k) => axis.columns.flatMap((column, c) =>
    addresses[k][c].map((address) => [address, inUnit(column, axis.single ? values[k] : column.values[state.at[k]])]))));
}

class Between {
  constructor(page) {
    const { sweep } = page, { exact } = sweep.about;
    Object.assign(this, { page, exact, solver: null, key: "", found: null });
    byId("between").hidden = sweep.axes.length === 0;
    if (exact.why) {
      byId("between-note").textContent = `Not there: ${exact.why}`;
      return;
    }
    this.sliders = sweep.axes.map((axis, k) => this.row(axis, k));
    byId("between").addEventListener("toggle", () => {
      if (!byId("between").open && page.state.between) page.set({ between: null }, true);
      page.later();
    });
    byId("between-cell").addEventListener("click", () => page.set({ between: null }, true));
  }

  // A slider over the values of an axis; axes of several parameters, and single points, stay at the cell.
  row(axis, k) {
    if (axis.finite.length < 2) return null;
    const slider = { low: axis.finite[0], high: axis.finite.at(-1), logarithmic: axis.logarithmic, rigid: axis.values.at(-1) === Infinity };
    const range = element("input", "", { type: "range", min: 0, max: STEPS + Number(slider.rigid), step: 1, "aria-label": `${axis.label}, between the cells` });
    const exact = element("input", "", { type: "number", step: "any", "aria-label": `${axis.label}, any value` });
    const change = (value, step) => {
      const between = [...this.values()];
      between[k] = value;
      this.page.set({ between }, step);
    };
    range.addEventListener("input", () => change(valueAt(slider, Number(range.value)), false));
    range.addEventListener("change", () => change(valueAt(slider, Number(range.value)), true));
    exact.addEventListener("change", () => exact.value !== "" && change(Number(exact.value), true));
    const row = element("div");
    row.append(element("span", axis.label), range, exact);
    byId("between-axes").append(row);
    return { ...slider, range, exact };
  }

  // What every axis has: the value that was set, or that of the cell.
  values() {
    const { sweep, state } = this.page;
    return state.between ?? sweep.axes.map((axis, k) => axis.values[state.at[k]]);
  }

  draw() {
    if (this.exact.why) return;
    const { sweep, state } = this.page, values = this.values();
    if (state.between) byId("between").open = true;
    if (!byId("between").open) {
      this.found = null;
      return;
    }
    this.sliders.forEach((slider, k) => {
      if (!slider) return;
      slider.range.value = placeOf(slider, values[k]);
      slider.range.setAttribute("aria-valuetext", withUnit(values[k], sweep.axes[k].columns[0].unit));
      if (document.activeElement !== slider.exact) slider.exact.value = Number.isFinite(values[k]) ? Number(values[k].toPrecision(7)) : "";
      slider.exact.placeholder = Number.isFinite(values[k]) ? "" : "rigid";
    });
    byId("between-cell").disabled = !state.between;
    this.ask(values);
  }

  ask(values) {
    const { sweep, state } = this.page, key = `${state.theory}/${values.join(",")}/${state.at.join(",")}`;
    if (key === this.key) return;
    this.key = key;
    if (!this.solver || this.theory !== state.theory) {
      this.solver?.worker.terminate();
      this.theory = state.theory;
      this.solver = new Solver(this.exact.arms[state.theory], (found, error) => this.show(found, error));
    }
    this.solver.ask({ kind: "frequencies", values: addressed(sweep, state, values), modes: Math.max(...sweep.modes) });
    byId("between-note").textContent = "Solving.";
  }

  show(found, error) {
    this.found = found && { ...found, values: this.values() };
    byId("between-note").textContent = error || (this.page.state.between ? "" : "These are the values of the cell: move one.");
    const { sweep } = this.page;
    byId("between-rows").replaceChildren(...sweep.modes.flatMap((number) => {
      const k = number - 1, omega = found?.omega[k];
      if (!(omega >= 0)) return [];
      const row = element("tr"), sure = found.certified[k] === 1, name = element("td", sure ? "certified" : "not certified");
      name.className = sure ? "certified" : "warning";
      row.append(element("th", String(number), { scope: "row" }), element("td", shortNumber(omega / (2 * Math.PI), 9)), name);
      return [row];
    }));
    this.page.later();
  }

  // The place along an axis and the frequencies of the modes shown, Hz, for the curves.
  marks(axis) {
    const { found, page } = this;
    if (!found || !page.state.between) return null;
    return { value: found.values[axis], hertz: page.sweep.modes.map((number) => (found.omega[number - 1] ?? NaN) / (2 * Math.PI)) };
  }
}
