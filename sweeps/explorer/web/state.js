// What is shown: kept in the address, so that a link shows the same and Back undoes.

function firstState(sweep) {
  const longest = sweep.axes.map((axis, k) => [axis.size, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const pair = longest.slice(0, 2).map(([, k]) => k).sort((a, b) => a - b);
  return {
    theory: 0,
    mode: 0,
    x: pair[0] ?? 0,
    y: pair[1] ?? 0,
    at: sweep.axes.map((axis) => Math.floor((axis.size - 1) / 2)),
    pin: null,
    between: null,
    level: null,
    low: null,
    high: null,
    slice: false,
    log: false,
    branches: false,
  };
}

function whole(text, size, otherwise) {
  const number = /^\d{1,9}$/.test(text ?? "") ? Number(text) : NaN;
  return number < size ? number : otherwise;
}

function places(text, sweep, otherwise) {
  const parts = (text ?? "").split(",").filter(Boolean);
  if (text === null || parts.length !== sweep.axes.length) return otherwise;
  const found = parts.map((part, k) => whole(part, sweep.axes[k].size, -1));
  return found.includes(-1) ? otherwise : found;
}

// Values of all axes; those that an axis has no number for (NaN) are the cell's.
function numbersOf(text, sweep, at) {
  const parts = (text ?? "").split(",");
  if (text === null || parts.length !== sweep.axes.length) return null;
  return parts.map((part, k) => (part !== "" && !Number.isNaN(Number(part)) ? Number(part) : sweep.axes[k].values[at[k]]));
}

function positive(text) {
  const number = text === null || text === "" ? NaN : Number(text);
  return number >= 0 && Number.isFinite(number) ? number : null;
}

function readState(sweep, address) {
  const given = new URLSearchParams(address.replace(/^#/, ""));
  const state = firstState(sweep);
  const axis = (name, otherwise) => {
    const found = sweep.axes.findIndex((entry) => entry.name === given.get(name));
    return found < 0 ? otherwise : found;
  };
  state.theory = whole(given.get("theory"), sweep.theories.length, state.theory);
  state.mode = whole(given.get("mode"), sweep.modes.length + 1, state.mode + 1) - 1;
  if (state.mode < 0) state.mode = 0;
  state.x = axis("x", state.x);
  state.y = axis("y", state.y);
  if (state.x === state.y && sweep.axes.length > 1) state.y = state.x === 0 ? 1 : 0;
  state.at = places(given.get("at"), sweep, state.at);
  state.pin = given.has("pin") ? places(given.get("pin"), sweep, null) : null;
  state.between = numbersOf(given.get("between"), sweep, state.at);
  for (const name of ["level", "low", "high"]) state[name] = positive(given.get(name));
  state.slice = given.get("scale") === "slice";
  for (const name of ["log", "branches"]) state[name] = given.get(name) === "1";
  return state;
}

function writtenState(sweep, state) {
  const given = new URLSearchParams();
  given.set("theory", state.theory);
  given.set("mode", state.mode + 1);
  if (sweep.axes.length) {
    given.set("x", sweep.axes[state.x].name);
    given.set("y", sweep.axes[state.y].name);
    given.set("at", state.at.join(","));
    if (state.pin) given.set("pin", state.pin.join(","));
    if (state.between) given.set("between", state.between.join(","));
  }
  for (const name of ["level", "low", "high"]) if (state[name] !== null) given.set(name, state[name]);
  if (state.slice) given.set("scale", "slice");
  for (const name of ["log", "branches"]) if (state[name]) given.set(name, "1");
  return `#${given}`;
}
