// The page of an arm: sliders, the frequencies that the worker finds; its picture moves the mode.

class ArmPage {
  constructor(about) {
    this.about = about;
    const { addresses, values } = about.solved;
    this.first = Object.fromEntries(addresses.map((name, k) => [name, Number(values[k])]));
    this.sliders = new Map(about.sliders.map((slider) => [slider.address, slider]));
    this.answer = null;
    this.picture = makePicture(about.picture, about.depths, () => this.keep());
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.solver = new Solver(about.solved, (answer, error) => this.show(answer, error));
    this.values = {};
    this.mode = 0;
    this.pinning = new Pinning(this);
    this.panels = [this.pinning, new Matters(this), new ForcedView(this), new ArmMap(this), new Along(this)];
    const again = () => requestAnimationFrame(() => this.panels.forEach((panel) => panel.draw?.()));
    new ResizeObserver(again).observe(byId("views"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    this.build();
    this.read();
    addEventListener("hashchange", () => this.read());
    offerUndo(() => this.read());
    requestAnimationFrame((now) => this.frame(now));
  }

  build() {
    const { about } = this;
    byId("title").textContent = about.title;
    document.title = `${about.title}: jaxmodal`;
    byId("versions").textContent = Object.entries(about.versions)
      .map(([name, value]) => `${name.replace("_version", "")} ${value}`)
      .join(", ");
    const groups = new Map();
    for (const slider of about.sliders) {
      if (!groups.has(slider.group)) groups.set(slider.group, this.group(slider.group));
      groups.get(slider.group).append(this.row(slider));
    }
    byId("reset").addEventListener("click", () => this.set({}, this.mode, true));
    byId("still").addEventListener("click", () => {
      this.still = !this.still;
      this.sayStill();
    });
    this.sayStill();
    byId("link").hidden = !OWN_ADDRESS;
    byId("link").addEventListener("click", async () => {
      await navigator.clipboard.writeText(location.href);
      byId("said").textContent = "The address of this arm is copied.";
    });
    byId("toml").hidden = !about.toml;
    byId("toml").addEventListener("click", () => offer(new Blob([this.toml()], { type: "application/toml" }), "arm.toml"));
    byId("csv").addEventListener("click", () => offer(new Blob([this.csv()], { type: "text/csv" }), "frequencies.csv"));
    addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
      if (ctrlKey || metaKey || altKey || /number|text/.test(target.type)) return;
      if (/^[1-9]$/.test(key)) this.set(this.values, Number(key) - 1, true);
    });
  }

  sayStill() {
    byId("still").textContent = this.still ? "Move" : "Hold still";
    byId("still").setAttribute("aria-pressed", String(this.still));
  }

  // Where sliders of a group stand; the long ones are closed at first, unless the address has set a value there.
  group(name) {
    if (!name) return byId("sliders");
    const made = element("details"), given = new URLSearchParams(location.hash.slice(1));
    made.open = !this.about.folded.includes(name) || this.about.sliders.some(({ group, address }) => group === name && given.has(address));
    made.append(element("summary", name));
    byId("sliders").append(made);
    return made;
  }

  row(slider) {
    const { address, unit, low, high, rigid, limits } = slider, name = slider.label ?? address;
    const row = element("div");
    const range = element("input", "", { type: "range", min: 0, max: STEPS + Number(rigid), step: 1, id: `at ${address}` });
    const exact = element("input", "", { type: "number", step: "any", "aria-label": `${name} in ${unit}` });
    range.addEventListener("input", () => this.change(slider, valueAt(slider, Number(range.value)), false));
    range.addEventListener("change", () => this.change(slider, valueAt(slider, Number(range.value)), true));
    exact.addEventListener("change", () => exact.value !== "" && this.change(slider, Number(exact.value), true));
    range.setAttribute("aria-valuemin", low);
    range.setAttribute("aria-valuemax", high);
    const label = element("label", name, { for: `at ${address}` });
    if (limits) label.append(element("small", limits));
    row.append(label, range, exact, element("span", unit === "degree" ? "°" : unit));
    Object.assign(slider, { range, exact });
    return row;
  }

  change(slider, value, step) {
    this.set({ ...this.values, [slider.address]: inSi(slider, value) }, this.mode, step);
  }

  // The address holds what differs from the file; a step can be undone by Back, a movement (false) is not kept, and what
  // only the eye has done (null) is no step.
  set(values, mode, step) {
    this.values = Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== this.first[name]));
    this.mode = Math.max(0, Math.min(this.about.modes - 1, mode));
    const address = `#${new URLSearchParams({ mode: this.mode + 1, ...this.values, ...this.written() })}`;
    if (step === null) {
      keepAddress(address, false);
      return;
    }
    if (step) keepAddress(address, true);
    this.ask();
  }

  // What is shown beside the values: the view and what is open.
  written() {
    return Object.assign({}, this.picture.written(), ...this.panels.map((panel) => panel.written()));
  }

  keep() {
    this.set(this.values, this.mode, null);
  }

  read() {
    const given = new URLSearchParams(addressNow().slice(1));
    const mode = Number(given.get("mode"));
    this.mode = Number.isInteger(mode) && mode >= 1 && mode <= this.about.modes ? mode - 1 : 0;
    this.values = this.known(given);
    for (const view of [this.picture, ...this.panels]) view.read(given);
    this.ask();
  }

  // The values of an address that have a slider.
  known(given) {
    const found = [...given].filter(([name, text]) => this.sliders.has(name) && text !== "" && !Number.isNaN(Number(text)));
    return Object.fromEntries(found.map(([name, text]) => [name, Number(text)]));
  }

  ask() {
    for (const slider of this.sliders.values()) {
      const value = shownValue(slider, this.values[slider.address] ?? this.first[slider.address]);
      slider.range.value = placeOf(slider, value);
      slider.range.setAttribute("aria-valuetext", withUnit(value, slider.unit));
      slider.exact.value = Number.isFinite(value) ? Number(value.toPrecision(7)) : "";
      slider.exact.placeholder = Number.isFinite(value) ? "" : "rigid";
    }
    const { modes, points } = this.about;
    this.solver.ask({ values: this.values, modes, mode: this.mode, points });
    byId("summary").textContent = "Solving.";
  }

  show(answer, error) {
    byId("error").textContent = error;
    if (!answer) {
      byId("summary").textContent = "Not solved: the table and the picture are those of the values before.";
      return;
    }
    this.answer = answer;
    this.table();
    this.draw();
    const sure = answer.certified.every((is) => is === 1), none = answer.certified.length === 0;
    const found = none
      ? "Nothing gives way, so that there are no frequencies: give a joint a stiffness, below, or see Robots in the documentation"
      : sure ? "All modes certified" : "Not all modes are certified";
    byId("summary").textContent = `${found}; solved here in ${shortNumber(answer.ms, 2)} ms.`;
    byId("summary").classList.toggle("warning", !sure || none);
    document.documentElement.dataset.ready = "true";
    for (const panel of this.panels) panel.ask();
  }

  hertz(k) {
    return this.answer.omega[k] / (2 * Math.PI);
  }

  table() {
    const { certified, lower, upper, multiplicity } = this.answer;
    byId("rows").replaceChildren(
      ...Array.from(certified, (sure, k) => {
        const row = element("tr", "", k === this.mode ? { "aria-current": "true" } : {});
        const pick = element("button", String(k + 1), { "aria-label": `show mode ${k + 1}` });
        pick.addEventListener("click", () => this.set(this.values, k, true));
        const head = element("th", "", { scope: "row" });
        head.append(pick);
        const several = multiplicity[k] > 1 ? `, ${multiplicity[k]} at one frequency` : "";
        const name = element("td", `${sure ? "certified" : "not certified"}${several}`);
        name.className = sure ? "certified" : "warning";
        const within = (upper[k] - lower[k]) / (2 * this.answer.omega[k]);
        const bound = within > 0 ? within.toExponential(0) : "";
        row.append(head, element("td", shortNumber(this.hertz(k), this.pinning.found ? 7 : 9)), name, ...(this.pinning.found ? this.pinning.cells(k) : [element("td", bound)]));
        return row;
      }),
    );
    for (const head of document.querySelectorAll(".compared")) head.hidden = !this.pinning.found;
    byId("rows").parentElement.classList.toggle("beside", Boolean(this.pinning.found));
    document.querySelector(".bounded").hidden = Boolean(this.pinning.found); // there is no room for both
    const said = this.mode >= certified.length ? "" : `mode ${this.mode + 1} ${shortNumber(this.hertz(this.mode), 6)} Hz`;
    if (byId("said").textContent !== said) byId("said").textContent = said;
  }

  // Of the arm that has been solved, whatever the sliders say by now.
  draw() {
    const { values } = this.answer;
    byId("why").textContent = this.answer.why;
    this.picture.draw(this.answer, (address, otherwise) => values[address] ?? this.first[address] ?? otherwise, this.first, this.pinning.found?.places ?? null);
    this.picture.frame(1);
  }

  frame(now) {
    this.picture.frame(this.still ? 1 : Math.sin((2 * Math.PI * now) / 1600));
    requestAnimationFrame((next) => this.frame(next));
  }

  // The arm as it has been solved, as an arm file.
  toml() {
    const text = (address) => String(this.answer.values[address] ?? this.first[address]).replace("Infinity", "inf");
    return this.about.toml.map((part, k) => (k % 2 === 0 ? part : text(part))).join("");
  }

  csv() {
    const { certified, lower, upper } = this.answer;
    const hertz = (omega) => omega / (2 * Math.PI);
    const rows = Array.from(certified, (sure, k) => [
      k + 1, this.hertz(k), sure ? "certified" : "not_certified", hertz(lower[k]), hertz(upper[k]),
    ]);
    return csvText(["mode", "frequency [Hz]", "status", "bracket_lower [Hz]", "bracket_upper [Hz]"], rows);
  }
}

try {
  new ArmPage(JSON.parse(byId("data").textContent));
} catch (error) {
  byId("summary").textContent = `The page cannot show its arm: ${error.message}`;
  byId("summary").classList.add("warning");
  throw error;
}
