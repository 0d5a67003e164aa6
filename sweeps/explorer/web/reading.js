// The data of the page: base64, inflated, differences summed; values and status of every cell.

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; i++) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

async function inflated(text) {
  const packed = new Blob([fromBase64(text)]).stream();
  const stream = packed.pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Levels of planes of rows x columns from their differences along both.
function summed(bytes, rows, columns) {
  const count = bytes.length / 2;
  const levels = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const folded = bytes[i] | (bytes[count + i] << 8);
    levels[i] = (folded >>> 1) ^ -(folded & 1);
  }
  for (let row = 0; row < count; row += columns) {
    for (let i = row + 1; i < row + columns; i++) levels[i] += levels[i - 1];
  }
  const plane = rows * columns;
  for (let first = 0; first < count; first += plane) {
    for (let i = first + columns; i < first + plane; i++) levels[i] += levels[i - columns];
  }
  return levels;
}

class Sweep {
  static async read(about) {
    const sweep = new Sweep();
    const sizes = about.axes.map((axis) => axis.size);
    const [bytes, status] = await Promise.all([
      inflated(about.frequency.data),
      inflated(about.status),
    ]);
    sweep.about = about;
    sweep.axes = about.axes.map((axis) => new Axis(axis));
    sweep.cells = sizes.reduce((product, size) => product * size, 1);
    sweep.strides = sizes.map((_, k) => sizes.slice(k + 1).reduce((product, size) => product * size, 1));
    sweep.modes = about.modes;
    sweep.theories = about.theories;
    sweep.status = status;
    sweep.bits = about.frequency.bits;
    const [rows, columns] = [sizes.at(-2) ?? 1, sizes.at(-1) ?? 1];
    sweep.numbers =
      sweep.bits === 64 ? new Float64Array(bytes.buffer) : summed(bytes, rows, columns);
    if (sweep.numbers.length !== sweep.cells * sweep.planes || status.length !== sweep.numbers.length)
      throw new Error("the data do not have the size of their axes");
    return sweep;
  }
  get planes() {
    return this.modes.length * this.theories.length;
  }
  plane(theory, mode) {
    return theory * this.modes.length + mode;
  }
  flat(index) {
    return index.reduce((sum, i, k) => sum + i * this.strides[k], 0);
  }
  // The number that a level stands for.
  decoder(plane) {
    const { low, high, logarithmic } = this.about.frequency.planes[plane];
    if (this.bits === 64) return (number) => number;
    const from = logarithmic ? Math.log(low) : low;
    const step = ((logarithmic ? Math.log(high) : high) - from) / 65534;
    return (level) => {
      if (level === 0) return NaN;
      const place = from + (level - 1) * step;
      return logarithmic ? Math.exp(place) : place;
    };
  }
  value(theory, mode, flat) {
    const plane = this.plane(theory, mode);
    return this.decoder(plane)(this.numbers[plane * this.cells + flat]);
  }
  statusOf(theory, mode, flat) {
    return this.status[this.plane(theory, mode) * this.cells + flat];
  }
  // Whether all cells of a plane are certified, which is looked at once.
  allCertified(plane) {
    this.sure ??= [];
    return (this.sure[plane] ??= this.status.subarray(plane * this.cells, (plane + 1) * this.cells).every((code) => code === 0));
  }
  statusName(code) {
    return this.about.statuses[code]?.name ?? `status ${code}`;
  }
  // Significant digits that hold for a number of a plane.
  digits(plane, value) {
    if (this.bits === 64) return 7;
    const { error, logarithmic } = this.about.frequency.planes[plane];
    const relative = logarithmic ? error : error / Math.max(Math.abs(value), error);
    return Math.min(7, Math.max(1, Math.floor(-Math.log10(2 * relative))));
  }
  hertz(theory, mode, flat) {
    const value = this.value(theory, mode, flat);
    if (Number.isNaN(value)) return "no value";
    return shortNumber(value, this.digits(this.plane(theory, mode), value));
  }
}

class Axis {
  constructor({ name, size, single, columns }) {
    Object.assign(this, { name, size, single });
    this.columns = columns.map((column) => ({ ...column, values: column.values.map(Number) }));
    this.values = this.columns[0].values;
    // points at which a joint lies beyond its limits
    const outside = ({ limits, values }, i) => limits && !(values[i] >= limits[0] - 1e-9 && values[i] <= limits[1] + 1e-9);
    this.beyond = this.values.map((_, i) => this.columns.some((column) => outside(column, i)));
    this.limited = this.beyond.includes(true);
    const finite = single ? this.values.filter(Number.isFinite) : [];
    this.finite = finite;
    const first = finite[0];
    const last = finite.at(-1);
    this.logarithmic = finite.length > 2 && first > 0 && last / first >= 20;
    const step = (last - first) / (finite.length - 1);
    this.uniform =
      finite.length > 1 &&
      finite.length === size &&
      finite.every((value, i) => Math.abs(value - first - i * step) < 1e-6 * (last - first));
  }
  get unit() {
    return this.single && this.columns[0].unit !== "1" ? this.columns[0].unit : "";
  }
  get label() {
    if (!this.single) return `${this.name} (${this.columns.map((column) => column.name).join(", ")})`;
    return this.unit ? `${this.name} [${this.unit}]` : this.name;
  }
  // Where a point lies along the axis, 0 to 1: by its value, infinity at the end.
  place(i) {
    if (this.size === 1) return 0.5;
    const n = this.finite.length;
    if (!this.single || n < 2) return i / (this.size - 1);
    const share = (n - 1) / (this.size - 1);
    if (i >= n) return i / (this.size - 1);
    const scale = this.logarithmic ? Math.log : (value) => value;
    const [low, high] = [scale(this.finite[0]), scale(this.finite[n - 1])];
    return high > low ? (share * (scale(this.values[i]) - low)) / (high - low) : i / (this.size - 1);
  }
  // Where a value between points lies, 0 to 1, as `place` of points; NaN where the axis has no order.
  placeOfValue(value) {
    const n = this.finite.length;
    if (!this.single || n < 2) return NaN;
    if (value === Infinity) return this.place(this.size - 1);
    const scale = this.logarithmic ? Math.log : (x) => x, [low, high] = [scale(this.finite[0]), scale(this.finite[n - 1])];
    return ((n - 1) / (this.size - 1)) * ((scale(value) - low) / (high - low));
  }
  // Whether a line may go from one point to another: not to infinity, nor where points have no order.
  joins(i, k) {
    return this.single && Number.isFinite(this.values[i]) && Number.isFinite(this.values[k]);
  }
  text(i) {
    if (!this.single) {
      const parts = this.columns.map((c) => `${c.name} ${withUnit(c.values[i], c.unit)}`);
      return `${i + 1}: ${parts.join(", ")}`;
    }
    return withUnit(this.values[i], this.columns[0].unit);
  }
  // Marks along the axis, as places counted in points, with their texts.
  ticks(most) {
    if (this.uniform) {
      const [low, high] = [this.values[0], this.values.at(-1)];
      const marks = niceTicks(low, high, most, this.unit);
      const at = (value) => ((value - low) / (high - low)) * (this.size - 1);
      return marks.map((value) => ({ at: at(value), text: shortNumber(value, 5) }));
    }
    const count = Math.min(this.size, Math.max(2, most));
    const picked = Array.from({ length: count }, (_, k) =>
      count === 1 ? 0 : Math.round((k * (this.size - 1)) / (count - 1)),
    );
    return [...new Set(picked)].map((i) => ({
      at: i,
      text: this.single ? shortNumber(this.values[i], 4) : String(i + 1),
    }));
  }
}
