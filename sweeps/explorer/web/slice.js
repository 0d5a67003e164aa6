// The cells that a map shows: those over two axes through the cell chosen.

const NOT_COMPUTED = 127;

// Numbers of a slice through all cells, by column and row.
class Slice {
  constructor(sweep, state) {
    this.sweep = sweep;
    this.state = state;
    this.nx = sweep.axes[state.x].size;
    this.ny = sweep.axes[state.y].size;
    this.sx = sweep.strides[state.x];
    this.sy = sweep.strides[state.y];
    this.base = sweep.flat(state.at.map((i, k) => (k === state.x || k === state.y ? 0 : i)));
    this.plane = sweep.plane(state.theory, state.mode);
    this.decode = sweep.decoder(this.plane);
    this.offset = this.plane * sweep.cells + this.base;
    this.across = sweep.axes[state.x].beyond;
    this.upwards = sweep.axes[state.y].beyond;
    this.elsewhere = sweep.axes.some((axis, k) => k !== state.x && k !== state.y && axis.beyond[state.at[k]]);
  }
  // Whether a joint lies beyond its limits there.
  beyond(ix, iy) {
    return this.elsewhere || this.across[ix] || this.upwards[iy];
  }
  get limited() {
    return this.elsewhere || this.across.includes(true) || this.upwards.includes(true);
  }
  number(ix, iy) {
    return this.sweep.numbers[this.offset + ix * this.sx + iy * this.sy];
  }
  value(ix, iy) {
    return this.decode(this.number(ix, iy));
  }
  status(ix, iy) {
    return this.sweep.status[this.offset + ix * this.sx + iy * this.sy];
  }
  // Calls back with column, row and place in the arrays of planes.
  each(visit) {
    for (let iy = 0; iy < this.ny; iy++) {
      let at = this.offset + iy * this.sy;
      for (let ix = 0; ix < this.nx; ix++, at += this.sx) visit(ix, iy, at);
    }
  }
  // Least and largest number, in levels where the numbers are levels.
  ends() {
    let [low, high] = [Infinity, -Infinity];
    const { numbers, bits } = this.sweep;
    this.each((ix, iy, at) => {
      const number = numbers[at];
      if (bits === 16 && number === 0) return;
      if (number < low) low = number;
      if (number > high) high = number;
    });
    return low <= high ? [this.decode(low), this.decode(high)] : [0, 0];
  }
  range() {
    if (this.state.slice) return this.ends();
    const { low, high } = this.sweep.about.frequency.planes[this.plane];
    return [low, high];
  }
  // Pixels of the colours, the first row on top.
  pixels([low, high]) {
    const image = new ImageData(this.nx, this.ny);
    const out = new Uint32Array(image.data.buffer);
    const colour = (value) => (Number.isNaN(value) ? 0 : shade(high > low ? (value - low) / (high - low) : 0.5));
    const { numbers, bits } = this.sweep;
    const levels = bits === 16 ? Uint32Array.from({ length: 65536 }, (_, level) => colour(this.decode(level))) : null;
    this.each((ix, iy, at) => {
      out[(this.ny - 1 - iy) * this.nx + ix] = levels ? levels[numbers[at]] : colour(numbers[at]);
    });
    return image;
  }
  // Cells with a mode in the band: pixels, and how many are inside, outside and unknown.
  band(low, high) {
    const { sweep, state, nx, ny } = this;
    const inside = new Uint8Array(nx * ny);
    for (let mode = 0; mode < sweep.modes.length; mode++) {
      const plane = sweep.plane(state.theory, mode);
      const decode = sweep.decoder(plane);
      const shift = (plane - this.plane) * sweep.cells;
      // above the highest mode that was computed there may be others
      const last = mode === sweep.modes.length - 1;
      const kind = (value) => (value >= low && value <= high ? 1 : Number.isNaN(value) || (last && value < low) ? 2 : 0);
      const levels = sweep.bits === 16 ? Uint8Array.from({ length: 65536 }, (_, level) => kind(decode(level))) : null;
      this.each((ix, iy, at) => {
        const number = sweep.numbers[at + shift];
        const found = sweep.status[at + shift] !== 0 ? 2 : levels ? levels[number] : kind(number);
        const k = (ny - 1 - iy) * nx + ix;
        if (found === 1) inside[k] = 1;
        else if (found === 2 && inside[k] === 0) inside[k] = 2;
      });
    }
    const image = new ImageData(nx, ny);
    const out = new Uint32Array(image.data.buffer);
    const counts = [0, 0, 0];
    const { limited } = this;
    inside.forEach((kind, k) => {
      if (limited && this.beyond(k % nx, ny - 1 - Math.floor(k / nx))) return;
      counts[kind]++;
      if (kind === 1) out[k] = 0xff000000;
    });
    return { image, counts };
  }
}

// Measures of a mode, by the value of the next one too, whose least is looked for.
const MEASURES = { lowest: (value) => value, highest: (value) => -value, closest: (value, next) => (next - value) / next };

// The cell, of all within the limits of joints, at which a measure of the mode is least, and that mode; null where none has it.
function leastCell(sweep, state, measure) {
  const next = Math.min(state.mode + 1, sweep.modes.length - 1);
  const mode = measure.length === 2 && next === state.mode ? state.mode - 1 : state.mode;
  const pair = [mode, measure.length === 2 ? mode + 1 : mode].map((k) => sweep.plane(state.theory, k));
  const decoders = pair.map((plane) => sweep.decoder(plane));
  let [best, found] = [Infinity, -1];
  const limited = sweep.axes.map((axis, k) => [axis, sweep.strides[k]]).filter(([axis]) => axis.limited);
  for (let flat = 0; flat < sweep.cells; flat++) {
    if (limited.some(([axis, stride]) => axis.beyond[Math.floor(flat / stride) % axis.size])) continue;
    const [a, b] = pair.map((plane, k) => decoders[k](sweep.numbers[plane * sweep.cells + flat]));
    const size = measure(a, b, sweep.statusOf(state.theory, mode, flat));
    if (size < best) [best, found] = [size, flat];
  }
  if (found < 0) return null;
  return { at: sweep.strides.map((stride, k) => Math.floor(found / stride) % sweep.axes[k].size), mode };
}

// Segments of the line where a slice has a value, between centres of cells, in points of the axes.
function contour(slice, level, stride) {
  const { nx, ny } = slice;
  const found = [];
  const [along, upwards] = [slice.state.x, slice.state.y].map((k) => slice.sweep.axes[k]);
  const columns = Math.floor((nx - 1) / stride);
  const rows = Math.floor((ny - 1) / stride);
  const row = (k) => Float64Array.from({ length: columns + 1 }, (_, i) => slice.value(i * stride, k * stride) - level);
  let below = row(0);
  for (let k = 0; k < rows; k++) {
    const above = row(k + 1);
    for (let i = 0; i < columns; i++) {
      const corners = [below[i], below[i + 1], above[i + 1], above[i]];
      const joined = along.joins(i * stride, (i + 1) * stride) && upwards.joins(k * stride, (k + 1) * stride);
      if (!joined || corners.some(Number.isNaN)) continue;
      const cuts = [];
      for (let edge = 0; edge < 4; edge++) {
        const [a, b] = [corners[edge], corners[(edge + 1) % 4]];
        if (a < 0 === b < 0) continue;
        const t = a / (a - b);
        cuts.push([[i + t, k], [i + 1, k + t], [i + 1 - t, k + 1], [i, k + 1 - t]][edge]);
      }
      for (let c = 0; c + 1 < cuts.length; c += 2) found.push([cuts[c], cuts[c + 1]]);
    }
    below = above;
  }
  return found.map((ends) => ends.map(([x, y]) => [x * stride, y * stride]));
}
