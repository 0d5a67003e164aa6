// A map of the frequencies over two values of the arm: every cell is solved and counted, coarse ones first.

// Cells along each side: from COARSE on each time twice as many, less one, as long as that takes LONGEST seconds at most.
const COARSE = 9, FINEST = 129, LONGEST = 40;
const UNSOLVED = 127, UNCERTIFIED = 1;

class ArmMap {
  constructor(page) {
    Object.assign(this, { page, key: "", cells: new Map(), need: null, sweep: null, map: null, wanted: COARSE, seconds: 0, more: false });
    const names = page.about.sliders.map(({ address, label }) => [address, label ?? address]);
    for (const id of ["map-x", "map-y"]) {
      byId(id).replaceChildren(...names.map(([address, name]) => element("option", name, { value: address })));
      byId(id).addEventListener("change", () => this.chosen(id));
    }
    this.turns = names.map(([address]) => address).filter((address) => address.endsWith("joint_angle"));
    const [x, y] = this.turns.length > 2 ? this.turns.slice(1, 3) : this.turns.length === 2 ? this.turns : names.map(([address]) => address);
    byId("map-x").value = x;
    byId("map-y").value = y ?? x;
    byId("over").addEventListener("toggle", () => this.chosen());
    for (const name of ["level", "low", "high"]) byId(name).addEventListener("change", () => this.chosen());
    for (const [name, measure] of Object.entries(MEASURES)) byId(name).addEventListener("click", () => this.jump(measure));
    byId("map-finer").addEventListener("click", () => {
      this.more = true;
      this.ask();
    });
    byId("map-csv").addEventListener("click", () => offer(new Blob([this.csv()], { type: "text/csv" }), "map.csv"));
    offerPictures("map", "map", (canvas) => drawMap(canvas, this.sweep, this.state(), null));
    byId("map").addEventListener("click", ({ offsetX, offsetY }) => this.map && this.go(this.map.cellAt(offsetX, offsetY)));
    byId("map").addEventListener("keydown", (event) => this.moved(event));
    byId("over").hidden = names.length < 2;
  }

  written() {
    if (!byId("over").open) return {};
    const given = { over: `${byId("map-x").value},${byId("map-y").value}` };
    for (const name of ["level", "low", "high"]) if (positive(byId(name).value) !== null) given[name] = positive(byId(name).value);
    return given;
  }

  read(given) {
    const names = (given.get("over") ?? "").split(","), known = names.length === 2 && names[0] !== names[1] && names.every((name) => this.page.sliders.has(name));
    if (known) [byId("map-x").value, byId("map-y").value] = names;
    byId("over").open = known;
    for (const name of ["level", "low", "high"]) byId(name).value = positive(given.get(name)) ?? "";
  }

  // Of two values the other one changes places where both would be the same.
  chosen(id) {
    const [x, y] = [byId("map-x"), byId("map-y")];
    if (id && x.value === y.value) (id === "map-x" ? y : x).value = this.names?.[id === "map-x" ? 0 : 1] ?? this.page.about.sliders.find(({ address }) => address !== x.value).address;
    this.page.keep();
    this.ask();
  }

  state() {
    const number = (name) => positive(byId(name).value), low = number("low"), high = number("high");
    const band = low !== null && high !== null && high > low ? { low, high } : { low: null, high: null };
    return { theory: 0, mode: this.page.mode, x: 1, y: 0, at: this.here(), pin: null, level: number("level"), ...band, slice: true };
  }

  // The cell at the values of the arm, the nearest one.
  here() {
    const { answer, first } = this.page, last = this.size - 1;
    const own = this.names.map((name) => {
      const slider = this.page.sliders.get(name), place = placeOf(slider, shownValue(slider, answer.values[name] ?? first[name]));
      return Math.round((Math.min(place, STEPS) / STEPS) * last);
    });
    return [own[1], own[0]];
  }

  valueOf(slider, share) {
    return valueAt({ ...slider, rigid: false }, STEPS * share);
  }

  // Cells stay while the two values alone are moved, and while what has been solved is enough for mode and band.
  ask() {
    const { page } = this, { answer } = page;
    if (!answer || !byId("over").open) return;
    this.names = [byId("map-x").value, byId("map-y").value];
    const [x, y] = this.names.map((name) => page.sliders.get(name)), others = { ...answer.values, [x.address]: null, [y.address]: null };
    this.size ??= COARSE;
    const { high } = this.state(), need = { modes: Math.max(3, page.mode + 2), high: high === null ? 0 : 2 * Math.PI * high };
    const key = JSON.stringify([this.names, Object.entries(others).filter(([, value]) => value !== null).sort()]);
    const enough = this.key === key && need.modes <= this.need.modes && need.high <= this.need.high;
    if (!enough) Object.assign(this, { key, need, cells: new Map(), sweep: null, seconds: 0, wanted: COARSE, size: COARSE, more: false });
    this.draw();
    this.goOn();
  }

  // Asks for the next cells, as many as the worker solves at a time; those of coarser maps are among those of finer ones.
  goOn() {
    const { page, key, need, wanted } = this, last = wanted - 1, places = [];
    for (let i = 0; i < wanted && places.length < 200; i++)
      for (let j = 0; j < wanted && places.length < 200; j++) if (!this.cells.has(this.place(i / last, j / last))) places.push([i / last, j / last]);
    if (places.length === 0) {
      this.settle();
      const next = 2 * last + 1, seconds = (this.seconds / this.cells.size) * (next * next - this.cells.size);
      if (next > FINEST || (seconds > LONGEST && !this.more)) return this.draw();
      Object.assign(this, { wanted: next, more: false });
      return this.goOn();
    }
    const [x, y] = this.names.map((name) => page.sliders.get(name));
    const pairs = places.map(([i, j]) => [inSi(x, this.valueOf(x, i)), inSi(y, this.valueOf(y, j))]);
    const begin = performance.now();
    page.solver.aside({ kind: "cells", values: page.answer.values, names: this.names, pairs, ...need }, (found, error) => {
      if (this.key !== key || this.need !== need) return; // of what was asked before
      if (!found) { byId("map-status").textContent = error; return; }
      this.seconds += (performance.now() - begin) / 1000;
      found.forEach((cell, k) => this.cells.set(this.place(...places[k]), cell));
      this.say();
      this.goOn();
    });
  }

  place(i, j) {
    return Math.round(i * (FINEST - 1)) * FINEST + Math.round(j * (FINEST - 1));
  }

  // The map of the cells that are known, as the data of a sweep, which the map of sweeps draws.
  settle() {
    const n = this.wanted, most = Math.max(this.need.modes, ...[...this.cells.values()].map((cell) => cell?.omega.length ?? 0));
    const sliders = this.names.map((name) => this.page.sliders.get(name)), size = n * n;
    const axis = (slider) => new Axis({ name: slider.label ?? slider.address, size: n, single: true, columns: [{
      name: slider.address, parameter: slider.address, unit: slider.unit, values: Array.from({ length: n }, (_, i) => this.valueOf(slider, i / (n - 1))),
    }] });
    const numbers = new Float64Array(most * size).fill(NaN), status = new Uint8Array(most * size).fill(UNSOLVED);
    for (let j = 0, flat = 0; j < n; j++) for (let i = 0; i < n; i++, flat++) {
      const cell = this.cells.get(this.place(i / (n - 1), j / (n - 1)));
      if (!cell) continue;
      for (let k = 0; k < most; k++) { // beyond those that were asked for all modes lie above the band
        numbers[k * size + flat] = k < cell.omega.length ? cell.omega[k] / (2 * Math.PI) : Infinity;
        status[k * size + flat] = k < cell.omega.length && cell.certified[k] !== 1 ? UNCERTIFIED : 0;
      }
    }
    const statuses = { 0: { name: "certified" }, [UNCERTIFIED]: { name: "not certified" }, [UNSOLVED]: { name: "not solved" } };
    this.size = n;
    this.map = null;
    this.sweep = Object.assign(new Sweep(), {
      about: { statuses, frequency: { planes: Array(most).fill({}) } }, axes: [axis(sliders[1]), axis(sliders[0])], cells: size, strides: [n, 1],
      modes: Array.from({ length: most }, (_, k) => k + 1), theories: [this.page.about.solved.theory], bits: 64, numbers, status,
    });
    this.draw();
  }

  say() {
    const all = this.wanted ** 2, done = this.wanted === this.size && this.sweep ? "" : ` ${this.cells.size} of ${all} of the next one are solved.`;
    byId("map-progress").textContent = this.sweep ? `${this.size} x ${this.size} cells.${done}` : `${this.cells.size} of ${all} cells are solved.`;
    const room = this.sweep && this.wanted === this.size && 2 * this.size - 1 <= FINEST;
    byId("map-finer").disabled = !room;
    for (const name of [...Object.keys(MEASURES), "map-csv", "map-png", "map-svg"]) byId(name).disabled = !this.sweep;
  }

  draw() {
    if (!byId("over").open || !this.key) return;
    this.say();
    if (!this.sweep) return;
    const state = this.state();
    this.map = drawMap(byId("map"), this.sweep, state, this.map);
    byId("map-status").textContent = statusText(this.map);
    byId("band-text").textContent = bandText(this.map, state);
    byId("level-text").textContent = levelText(this.map, state);
    const [x, y] = this.sweep.axes, flat = this.sweep.flat(state.at);
    byId("map").setAttribute("aria-label", `Map of mode ${state.mode + 1} over ${y.label} and ${x.label}. At ${this.text(state.at)}: ${this.sweep.hertz(0, state.mode, flat)} Hz. Arrow keys move.`);
  }

  text(at) {
    return this.sweep.axes.map((axis, k) => `${axis.name} ${axis.text(at[k])}`).reverse().join(", ");
  }

  // Sets both values to those of a cell, and the mode.
  go([i, j], mode = this.page.mode) {
    const { page } = this, set = this.names.map((name, k) => {
      const slider = page.sliders.get(name);
      return [name, inSi(slider, this.valueOf(slider, [i, j][k] / (this.size - 1)))];
    });
    page.set({ ...page.values, ...Object.fromEntries(set) }, mode, true);
  }

  jump(measure) {
    const found = leastCell(this.sweep, this.state(), measure);
    if (!found) return;
    this.go([found.at[1], found.at[0]], found.mode);
    byId("said").textContent = this.text(found.at);
  }

  moved(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step || !this.sweep) return;
    event.preventDefault();
    const [j, i] = this.here(), stride = event.shiftKey ? 10 : 1;
    this.go([i + stride * step[0], j + stride * step[1]].map((x) => Math.max(0, Math.min(this.size - 1, x))));
  }

  csv() {
    const modes = Array.from({ length: this.need.modes }, (_, k) => k);
    return cellsCsv(this.sweep, this.state(), [0, 1], modes);
  }
}
