// The page: views linked by one state.

class Page {
  constructor(sweep) {
    this.sweep = sweep;
    this.exact = null; // all digits of the cell, where a server knows them
    this.state = readState(sweep, location.hash);
    this.map = this.curves = null;
    this.waiting = false;
    this.build();
    const read = () => {
      if (addressNow() === writtenState(sweep, this.state)) return;
      this.state = readState(sweep, addressNow());
      this.draw();
    };
    addEventListener("hashchange", read);
    offerUndo(read);
    new ResizeObserver(() => this.later()).observe(byId("views"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.later());
    this.draw();
  }

  // Changes the state; a step is kept, so that Back undoes it, a movement is not.
  set(changes, step = false) {
    if (changes.at) this.state.between = null; // which is about the cell
    Object.assign(this.state, changes);
    const address = writtenState(this.sweep, this.state);
    keepAddress(address, step && address !== addressNow());
    this.later();
  }
  move(axis, place, step = false) {
    const size = this.sweep.axes[axis].size;
    const at = [...this.state.at];
    at[axis] = Math.max(0, Math.min(size - 1, place));
    this.set({ at }, step);
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  build() {
    const { sweep } = this;
    const { about } = sweep;
    byId("title").textContent = about.title;
    byId("summary").textContent = `${about.arm_name ? `${about.arm_name}; ` : ""}${about.summary}`;
    byId("summary").classList.toggle("warning", !about.finished);
    document.title = `${about.title}: jaxmodal`;
    const fixed = about.fixed.map((entry) => `${entry.name} = ${withUnit(Number(entry.value), entry.unit)}`);
    byId("fixed").textContent = fixed.length ? `At ${fixed.join(", ")}.` : "";
    byId("precision").textContent = this.precision();
    byId("versions").textContent = Object.entries(about.versions)
      .map(([name, value]) => `${name.replace("_version", "")} ${value.slice(0, 16)}`)
      .join(", ");
    this.choice("theory", sweep.theories, (theory) => this.set({ theory }, true));
    this.choice("mode", sweep.modes.map((mode) => `mode ${mode}`), (mode) => this.set({ mode }, true));
    const names = sweep.axes.map((axis) => axis.label);
    this.choice("x", names, (x) => this.set({ x, ...(x === this.state.y ? { y: this.state.x } : {}) }, true));
    this.choice("y", names, (y) => this.set({ y, ...(y === this.state.x ? { x: this.state.y } : {}) }, true));
    byId("theory").parentElement.hidden = sweep.theories.length < 2;
    byId("y").parentElement.hidden = byId("map-view").hidden = sweep.axes.length < 2;
    byId("x").parentElement.hidden = byId("curves-view").hidden = sweep.axes.length < 1;
    byId("arm-view").hidden = !about.arm;
    this.arm = about.arm && makeArmView(about.arm);
    this.between = new Between(this);
    this.branches = new Branches(this);
    this.sliders();
    this.mapEvents();
    byId("curves").addEventListener("click", (event) =>
      this.move(this.state.x, this.curves.cellAt(event.offsetX), true),
    );
    byId("curves").addEventListener("keydown", (event) => this.keys(event, false));
    for (const name of ["level", "low", "high"])
      byId(name).addEventListener("input", (event) => this.set({ [name]: positive(event.target.value) }));
    byId("slice").addEventListener("change", (event) => this.set({ slice: event.target.checked }, true));
    byId("log").addEventListener("change", (event) => this.set({ log: event.target.checked }, true));
    byId("pin").addEventListener("click", () => this.set({ pin: [...this.state.at] }, true));
    byId("unpin").addEventListener("click", () => this.set({ pin: null }, true));
    for (const [name, measure] of Object.entries(MEASURES)) byId(name).addEventListener("click", () => this.jump(measure));
    byId("doubtful").addEventListener("click", () => this.jump((value, next, status) => (status === 0 ? NaN : 0)));
    byId("closest").hidden = sweep.modes.length < 2;
    byId("map-csv").addEventListener("click", () => this.csv([this.state.y, this.state.x], [this.state.mode]));
    byId("curves-csv").addEventListener("click", () =>
      this.branches.found ? this.offerCsv(this.branches.csv()) : this.csv([this.state.x], sweep.modes.map((_, k) => k)),
    );
    offerPictures("map", "map", (canvas) => drawMap(canvas, sweep, this.state, null));
    offerPictures("curves", "curves", (canvas) => drawCurves(canvas, sweep, this.state, this.between.marks(this.state.x), this.branches.found));
    byId("link").hidden = !OWN_ADDRESS;
    byId("link").addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href);
      byId("said").textContent = "The address of this view is copied.";
    });
    addEventListener("keydown", (event) => this.shortcuts(event));
  }

  precision() {
    if (this.sweep.bits === 64) return "The numbers are those of the store, kept whole.";
    const worst = (logarithmic) =>
      Math.max(...this.sweep.about.frequency.planes.filter((p) => p.logarithmic === logarithmic).map((p) => p.error), 0);
    const parts = [];
    if (worst(true)) parts.push(`${worst(true).toExponential(1)} of their value`);
    if (worst(false)) parts.push(`${worst(false).toExponential(1)} Hz`);
    return (
      `Frequencies are kept in 16 bits, wrong by at most ${parts.join(" or ")}; only digits that hold are shown.` +
      (this.sweep.about.served ? " Those of the cell are read from the store, all digits." : "")
    );
  }

  choice(id, texts, chosen) {
    byId(id).replaceChildren(...texts.map((text, k) => element("option", text, { value: k })));
    byId(id).addEventListener("change", (event) => chosen(Number(event.target.value)));
  }

  sliders() {
    this.sweep.axes.forEach((axis, k) => {
      const label = element("label", axis.label, { for: `axis-${k}`, title: axis.columns.map((c) => c.parameter).join(", ") });
      const input = element("input", "", { type: "range", id: `axis-${k}`, min: 0, max: axis.size - 1, step: 1 });
      input.addEventListener("input", () => this.move(k, Number(input.value)));
      const row = element("div");
      row.append(label, input, element("output", "", { id: `place-${k}`, for: `axis-${k}` }));
      byId("axes").append(row);
    });
  }

  mapEvents() {
    const canvas = byId("map");
    let dragged = false;
    const follow = (event, step) => {
      const [ix, iy] = this.map.cellAt(event.offsetX, event.offsetY);
      const at = [...this.state.at];
      at[this.state.x] = ix;
      at[this.state.y] = iy;
      this.set({ at }, step);
    };
    canvas.addEventListener("pointerdown", (event) => {
      dragged = true;
      canvas.setPointerCapture(event.pointerId);
      follow(event, true);
    });
    canvas.addEventListener("pointermove", (event) => dragged && follow(event, false));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (dragged = false));
    canvas.addEventListener("dblclick", () => this.set({ pin: [...this.state.at] }, true));
    canvas.addEventListener("keydown", (event) => this.keys(event, true));
  }

  keys(event, upwards) {
    const { x, y, at } = this.state;
    const stride = event.shiftKey ? 10 : 1;
    const moves = { ArrowLeft: [x, -stride], ArrowRight: [x, stride] };
    if (upwards) Object.assign(moves, { ArrowUp: [y, stride], ArrowDown: [y, -stride] });
    if (event.key === "Enter") this.set({ pin: [...at] }, true);
    else if (event.key === "Home") this.move(x, 0);
    else if (event.key === "End") this.move(x, this.sweep.axes[x].size - 1);
    else if (moves[event.key]) this.move(moves[event.key][0], at[moves[event.key][0]] + moves[event.key][1]);
    else return;
    event.preventDefault();
  }

  shortcuts(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
    const mode = Number(event.key) - 1;
    if (mode >= 0 && mode < this.sweep.modes.length) this.set({ mode }, true);
    else if (event.key === "p") this.set({ pin: [...this.state.at] }, true);
    else if (event.key === "Escape") this.set({ pin: null }, true);
  }

  // Goes to the cell, of all, at which a measure of the mode is least.
  jump(measure) {
    const found = leastCell(this.sweep, this.state, measure);
    if (found) this.set(found, true);
    else byId("said").textContent = "There is no such cell.";
  }

  csv(axes, modes) {
    this.offerCsv(cellsCsv(this.sweep, this.state, axes, modes));
  }

  offerCsv(text) {
    offer(new Blob([text], { type: "text/csv" }), "sweep.csv");
  }

  draw() {
    const { sweep, state } = this;
    const { about } = sweep;
    for (const name of ["theory", "mode", "x", "y"]) byId(name).value = state[name];
    for (const name of ["level", "low", "high"])
      if (document.activeElement !== byId(name)) byId(name).value = state[name] ?? "";
    byId("slice").checked = state.slice;
    byId("log").checked = state.log;
    byId("unpin").disabled = !state.pin;
    sweep.axes.forEach((axis, k) => {
      byId(`axis-${k}`).value = state.at[k];
      byId(`axis-${k}`).setAttribute("aria-valuetext", axis.text(state.at[k]));
      byId(`place-${k}`).textContent = axis.text(state.at[k]);
    });
    if (sweep.axes.length > 1) {
      this.map = drawMap(byId("map"), sweep, state, this.map);
      this.mapTexts();
    }
    this.between.draw();
    if (sweep.axes.length > 0) this.branches.draw();
    if (sweep.axes.length > 0) this.curves = drawCurves(byId("curves"), sweep, state, this.between.marks(state.x), this.branches.found);
    if (about.arm) this.arm.draw(state);
    this.spectrum();
    this.ask();
  }

  cellText(at) {
    return this.sweep.axes.map((axis, k) => `${axis.name} ${axis.text(at[k])}`).join(", ");
  }

  mapTexts() {
    const { sweep, state, map } = this;
    const flat = sweep.flat(state.at);
    const here = `${sweep.hertz(state.theory, state.mode, flat)} Hz, ${sweep.statusName(sweep.statusOf(state.theory, state.mode, flat))}`;
    byId("map").setAttribute(
      "aria-label",
      `Map of mode ${sweep.modes[state.mode]} over ${sweep.axes[state.x].label} and ${sweep.axes[state.y].label}. At ${this.cellText(state.at)}: ${here}. Arrow keys move, Enter pins.`,
    );
    byId("map-status").textContent = statusText(map);
    byId("band-text").textContent = bandText(map, state);
    byId("level-text").textContent = levelText(map, state);
  }

  spectrum() {
    const { sweep, state } = this;
    const flat = sweep.flat(state.at);
    const pin = state.pin ? sweep.flat(state.pin) : null;
    const exact = this.exact?.key === this.key() ? this.exact.values : null;
    byId("cell").textContent = sweep.axes.length ? this.cellText(state.at) : "one arm";
    byId("pinned").textContent = state.pin ? `Pinned: ${this.cellText(state.pin)}` : "";
    byId("rows").replaceChildren(
      ...sweep.modes.map((number, mode) => {
        const code = sweep.statusOf(state.theory, mode, flat);
        const row = element("tr", "", mode === state.mode ? { "aria-current": "true" } : {});
        const pick = element("button", String(number), { "aria-label": `show mode ${number}` });
        pick.addEventListener("click", () => this.set({ mode }, true));
        const head = element("th", "", { scope: "row" });
        head.append(pick);
        const own = exact?.frequency[mode];
        const hertz = own >= 0 ? shortNumber(own, 9) : sweep.hertz(state.theory, mode, flat);
        const name = element("td", sweep.statusName(code), { title: this.remedy(code) });
        name.className = code === 0 ? "certified" : "warning";
        row.append(head, element("td", hertz), name);
        if (pin !== null) {
          const [now, then] = [sweep.value(state.theory, mode, flat), sweep.value(state.theory, mode, pin)];
          const change = (100 * (now - then)) / then;
          row.append(element("td", sweep.hertz(state.theory, mode, pin)));
          row.append(element("td", Number.isFinite(change) ? `${change >= 0 ? "+" : "−"}${Math.abs(change).toFixed(2)} %` : ""));
        }
        return row;
      }),
    );
    for (const head of document.querySelectorAll(".compared")) head.hidden = pin === null;
    byId("rows").parentElement.classList.toggle("beside", pin !== null);
    const bad = sweep.modes.map((_, mode) => sweep.statusOf(state.theory, mode, flat)).filter((code) => code !== 0);
    byId("remedy").textContent = [...new Set(bad)].map((code) => this.remedy(code)).join(" ");
    const said = `${this.cellText(state.at)}: mode ${sweep.modes[state.mode]} ${sweep.hertz(state.theory, state.mode, flat)} Hz`;
    if (byId("said").textContent !== said) byId("said").textContent = said;
  }

  remedy(code) {
    const status = this.sweep.about.statuses[code];
    return status && code !== 0 ? `${status.name}: ${status.cause}; ${status.remedy}.` : "";
  }

  key() {
    return `${this.state.theory}/${this.state.at.join(",")}`;
  }

  // Asks the server, where there is one, for all digits of the cell.
  ask() {
    if (!this.sweep.about.served || this.sweep.bits === 64 || this.exact?.key === this.key()) return;
    clearTimeout(this.timer);
    const key = this.key();
    this.timer = setTimeout(async () => {
      try {
        const reply = await fetch(`cell/${key}`);
        if (!reply.ok) throw new Error(await reply.text());
        this.exact = { key, values: await reply.json() };
        if (key === this.key()) this.spectrum();
      } catch (error) {
        byId("said").textContent = `The store could not be read: ${error.message}`;
      }
    }, 120);
  }
}

async function main() {
  try {
    const sweep = await Sweep.read(JSON.parse(byId("data").textContent));
    const page = new Page(sweep);
    document.documentElement.dataset.ready = "true";
    return page;
  } catch (error) {
    byId("summary").textContent = `The page cannot show its data: ${error.message}`;
    byId("summary").classList.add("warning");
    throw error;
  }
}

main();
