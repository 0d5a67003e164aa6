// A state that is kept to compare with: its frequencies stand beside those of the arm as it is, its posture behind it.

class Pinning {
  constructor(page) {
    Object.assign(this, { page, values: null, found: null });
    byId("pin").addEventListener("click", () => this.set({ ...page.values }));
    byId("unpin").addEventListener("click", () => this.set(null));
    addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
      if (ctrlKey || metaKey || altKey || /number|text/.test(target.type) || target.tagName === "SELECT") return;
      if (key === "p") this.set({ ...page.values });
      if (key === "Escape") this.set(null);
    });
  }

  set(values) {
    this.values = values;
    this.found = null;
    this.page.set(this.page.values, this.page.mode, true);
  }

  written() {
    return this.values ? { pin: new URLSearchParams(this.values) } : {};
  }

  read(given) {
    const before = JSON.stringify(this.values);
    this.values = given.has("pin") ? this.page.known(new URLSearchParams(given.get("pin"))) : null;
    if (JSON.stringify(this.values) !== before) this.found = null;
  }

  // Asked when the arm has been solved, which comes first.
  ask() {
    const { page, values } = this;
    byId("unpin").disabled = !values;
    byId("pinned").textContent = values ? `Pinned: ${Object.entries(values).map(([name, value]) => this.text(name, value)).join(", ") || "as in the file"}` : "";
    if (!values || this.found) return;
    page.solver.aside({ kind: "frequencies", values, modes: page.about.modes }, (found, error) => {
      if (!found) { byId("pinned").textContent = `Pinned, and not solved: ${error}`; return; }
      this.found = found;
      page.table();
      page.draw();
    });
  }

  text(name, value) {
    const slider = this.page.sliders.get(name);
    return `${slider.label ?? name} ${withUnit(shownValue(slider, value), slider.unit)}`;
  }

  // Two cells of the table of a mode: the frequency then, and the change since.
  cells(k) {
    const then = this.found.omega[k];
    const change = 100 * (this.page.answer.omega[k] / then - 1);
    return [
      element("td", then >= 0 ? shortNumber(then / (2 * Math.PI), 6) : ""),
      element("td", Number.isFinite(change) ? `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(2)} %` : ""),
    ];
  }
}
