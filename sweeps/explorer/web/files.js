// Files of what is shown: CSV and PNG.

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A field of CSV; what a spreadsheet would take for a formula gets an apostrophe.
function field(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(head, rows) {
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

function fullNumber(sweep, theory, mode, flat) {
  const value = sweep.value(theory, mode, flat);
  if (!Number.isFinite(value)) return "";
  return sweep.bits === 64 ? value : Number(value.toPrecision(sweep.digits(sweep.plane(theory, mode), value)));
}

function* cellsShown(sweep, state, axes) {
  const at = [...state.at];
  const sizes = axes.map((k) => sweep.axes[k].size);
  const count = sizes.reduce((product, size) => product * size, 1);
  for (let number = 0; number < count; number++) {
    let rest = number;
    for (let k = axes.length - 1; k >= 0; k--) {
      at[axes[k]] = rest % sizes[k];
      rest = Math.floor(rest / sizes[k]);
    }
    yield at;
  }
}

// One row for each cell, all parameters in it; frequencies and status of the modes given.
function cellsCsv(sweep, state, axes, modes) {
  const columns = sweep.axes.flatMap((axis, k) => axis.columns.map((column) => [column, k]));
  const head = [
    "theory",
    ...columns.map(([column]) => (column.unit === "1" ? column.name : `${column.name} [${column.unit}]`)),
    ...modes.flatMap((mode) => [`frequency_${sweep.modes[mode]} [Hz]`, `status_${sweep.modes[mode]}`]),
  ];
  const rows = [];
  for (const at of cellsShown(sweep, state, axes)) {
    const flat = sweep.flat(at);
    rows.push([
      sweep.theories[state.theory],
      ...columns.map(([column, k]) => (column.values[at[k]] === Infinity ? "inf" : column.values[at[k]])),
      ...modes.flatMap((mode) => [
        fullNumber(sweep, state.theory, mode, flat),
        sweep.statusName(sweep.statusOf(state.theory, mode, flat)),
      ]),
    ]);
  }
  return csvText(head, rows);
}
