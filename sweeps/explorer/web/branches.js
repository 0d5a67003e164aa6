// Branches of the curves of a sweep: how modes go on where they cross or veer, by slopes that the solver finds at every point.

const MOST_POINTS = 401;

class Branches {
  constructor(page) {
    Object.assign(this, { page, key: "", points: [], solver: null });
    byId("branches").addEventListener("change", (event) => page.set({ branches: event.target.checked }, true));
  }

  // Why there are none along this axis; empty where there are.
  why() {
    const { sweep, state } = this.page, axis = sweep.axes[state.x];
    if (sweep.about.exact.why) return sweep.about.exact.why;
    if (!axis?.single || axis.finite.length < 3) return "Branches need an axis of one parameter, of three values or more.";
    return axis.size > MOST_POINTS ? `Branches are followed over ${MOST_POINTS} points at most.` : "";
  }

  draw() {
    const { page } = this, { state } = page, why = this.why();
    byId("branches").checked = state.branches && !why;
    byId("branches").disabled = Boolean(why);
    byId("branches-note").textContent = state.branches ? why : "";
    if (state.branches && !why) this.ask();
  }

  ask() {
    const { sweep, state } = this.page, axis = sweep.axes[state.x], others = state.at.filter((_, k) => k !== state.x);
    const key = JSON.stringify([state.theory, state.x, others]);
    const note = () => { byId("branches-note").textContent = this.points.length < axis.size ? `Branches: ${this.points.length} of ${axis.size} points.` : "Lines go on where values and slopes fit best."; };
    note();
    if (key === this.key) return;
    Object.assign(this, { key, points: [] });
    this.solver?.worker.terminate();
    this.solver = new Solver(sweep.about.exact.arms[state.theory], () => {});
    const [column] = axis.columns, [addresses] = sweep.about.exact.addresses[state.x];
    const values = addressed(sweep, state, sweep.axes.map((own, k) => own.values[state.at[k]])), modes = Math.max(...sweep.modes), none = Array(modes).fill(NaN);
    const next = () => {
      if (this.points.length === axis.size) return this.page.later();
      const value = inUnit(column, axis.values[this.points.length]);
      this.solver.aside({ kind: "along", values, addresses, value, modes }, (found) => {
        if (this.key !== key) return;
        this.points.push({ value, ...(found ?? { omega: none, slope: none }) });
        note();
        next();
      });
    };
    next();
  }

  // Branches as lists of [point, mode], modes by their places in the sweep; null while they are not known.
  get found() {
    const { page, points } = this, { sweep, state } = page;
    if (!state.branches || this.why() || points.length < sweep.axes[state.x].size) return null;
    const known = followed(points, (value) => value).map((own) => own.map(([i, k]) => [i, sweep.modes.indexOf(k + 1)]).filter(([, mode]) => mode >= 0));
    return known.filter((own) => own.length > 0);
  }

  csv() {
    const { sweep, state } = this.page, [column] = sweep.axes[state.x].columns, flat = (i) => sweep.flat(state.at.map((own, k) => (k === state.x ? i : own)));
    const rows = this.found.flatMap((own, k) => own.map(([i, mode]) => [
      column.values[i] === Infinity ? "inf" : column.values[i], k + 1, sweep.modes[mode], fullNumber(sweep, state.theory, mode, flat(i)), sweep.statusName(sweep.statusOf(state.theory, mode, flat(i))),
    ]));
    return csvText([column.unit === "1" ? column.name : `${column.name} [${column.unit}]`, "branch", "mode", "frequency [Hz]", "status"], rows);
  }
}
