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
  // Least and largest number, in levels where the numbers are levels.
  ends() {
    if (this.extent) return this.extent;
    let [low, high] = [Infinity, -Infinity];
    const { nx, ny, sx, sy, offset } = this, { numbers, bits } = this.sweep, none = bits === 16 ? 0 : NaN;
    for (let iy = 0; iy < ny; iy++)
      for (let ix = 0, at = offset + iy * sy; ix < nx; ix++, at += sx) {
        const number = numbers[at];
        if (number === none || number === Infinity) continue;
        if (number < low) low = number;
        if (number > high) high = number;
      }
    this.extent = low <= high ? [this.decode(low), this.decode(high)] : [0, 0];
    return this.extent;
  }
  range() {
    if (this.state.slice) return this.ends();
    const { low, high } = this.sweep.about.frequency.planes[this.plane];
    return [low, high];
  }
  // A function of what numbers stand for, as a table where they are levels of 16 bits.
  table(kind, of) {
    if (this.sweep.bits !== 16) return of;
    const found = new kind(65536);
    for (let level = 0; level < 65536; level++) found[level] = of(this.decode(level));
    return (level) => found[level];
  }
  // An image of at most so many pixels, the first row on top; `paint` gives the colour of a place in the arrays. Where
  // there are more cells than pixels, each pixel is that of the cell in its middle.
  image(width, height, paint) {
    const { nx, ny, sx, sy } = this, [w, h] = [Math.min(nx, width), Math.min(ny, height)], image = new ImageData(w, h);
    const out = new Uint32Array(image.data.buffer), columns = Int32Array.from({ length: w }, (_, x) => Math.floor(((x + 0.5) * nx) / w));
    for (let y = 0, to = 0; y < h; y++) {
      const iy = ny - 1 - Math.floor(((y + 0.5) * ny) / h);
      for (let x = 0; x < w; x++, to++) out[to] = paint(columns[x] * sx + iy * sy, columns[x], iy);
    }
    return image;
  }
  pixels([low, high], width, height) {
    const { numbers } = this.sweep, { offset } = this;
    const colour = this.table(Uint32Array, (value) => (Number.isNaN(value) ? 0 : shade(high > low ? (value - low) / (high - low) : 0.5)));
    return this.image(width, height, (place) => colour(numbers[offset + place]));
  }
  // Cells with a mode in the band: pixels, and how many within limits are outside, inside and unknown.
  band(low, high, width, height) {
    const { sweep, state, nx, ny } = this, last = sweep.modes.length - 1, levels = sweep.bits === 16;
    const found = (this.found ??= new Uint8Array(nx * ny)), tables = []; // 2 inside, 1 unknown, 3 both
    found.fill(0);
    for (let mode = 0; mode <= last; mode++) {
      const plane = sweep.plane(state.theory, mode), decode = sweep.decoder(plane), at = plane * sweep.cells + this.base;
      // what is compared are levels, which ascend, 0 being none, or the values themselves, NaN being none
      const least = levels ? firstLevel((level) => decode(level) >= low) : low, most = levels ? firstLevel((level) => decode(level) > high) - 1 : high;
      // above the highest mode that was computed there may be others
      const known = mode === last ? least : levels ? 1 : -Infinity;
      if (levels && sweep.allCertified(plane)) tables.push([at, new Uint8Array(65536).fill(1, 0, known).fill(2, least, Math.max(least, most + 1))]);
      else this.mark(found, at, (number, code) => (code !== 0 ? 1 : number >= least && number <= most ? 2 : number >= known ? 0 : 1));
    }
    for (let k = 0; k < tables.length; k += 3) this.look(found, tables.slice(k, k + 3));
    const counts = this.counted(found);
    return { image: this.image(width, height, (_, ix, iy) => (((found[iy * nx + ix] >> 1) & 1) * 0xff000000)), counts };
  }
  // Marks what each cell of a mode is, by its number and its status.
  mark(found, from, kind) {
    const { nx, ny, sx, sy } = this, { numbers, status } = this.sweep;
    for (let iy = 0, k = 0; iy < ny; iy++)
      for (let ix = 0, at = from + iy * sy; ix < nx; ix++, at += sx) found[k++] |= kind(numbers[at], status[at]);
  }
  // As `mark`, of one to three modes in one go, whose levels are looked up: so 10^6 cells of three modes are marked within a frame.
  look(found, [[a, first], [b, second] = [a, first], [c, third] = [b, second]]) {
    const { nx, ny, sx, sy } = this, { numbers } = this.sweep, [toB, toC] = [b - a, c - a];
    for (let iy = 0, k = 0; iy < ny; iy++)
      for (let ix = 0, at = a + iy * sy; ix < nx; ix++, at += sx) found[k++] |= first[numbers[at]] | second[numbers[at + toB]] | third[numbers[at + toC]];
  }
  counted(found) {
    const { nx, ny } = this;
    if (this.limited) for (let iy = 0, k = 0; iy < ny; iy++) for (let ix = 0; ix < nx; ix++, k++) if (this.beyond(ix, iy)) found[k] = 4;
    let inside = 0, unknown = 0, beyond = 0;
    for (let k = 0; k < found.length; k++) {
      const kind = found[k];
      beyond += kind >> 2;
      inside += (kind >> 1) & 1;
      unknown += kind & ~(kind >> 1) & 1;
    }
    return [found.length - beyond - inside - unknown, inside, unknown];
  }
}

// The first level, above 0, of which something holds that holds of all above it.
function firstLevel(holds) {
  let [below, above] = [0, 65536];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (holds(middle)) above = middle;
    else below = middle;
  }
  return above;
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

// Segments of the lines where a slice has each of some values, between centres of cells, in points of the axes.
function contours(slice, levels, stride) {
  const { nx, ny, sx, sy, offset } = slice, { numbers } = slice.sweep, found = levels.map(() => []);
  const [along, upwards] = [slice.state.x, slice.state.y].map((k) => slice.sweep.axes[k]);
  const columns = Math.floor((nx - 1) / stride), rows = Math.floor((ny - 1) / stride);
  const value = slice.table(Float64Array, (x) => x);
  const row = (k, into) => { for (let i = 0, at = offset + k * stride * sy; i <= columns; i++, at += stride * sx) into[i] = value(numbers[at]); };
  const right = Uint8Array.from({ length: columns }, (_, i) => along.joins(i * stride, (i + 1) * stride));
  let below = new Float64Array(columns + 1), above = new Float64Array(columns + 1);
  row(0, below);
  for (let k = 0; k < rows; k++, [below, above] = [above, below]) {
    row(k + 1, above);
    if (!upwards.joins(k * stride, (k + 1) * stride)) continue;
    for (let i = 0; i < columns; i++) {
      const a = below[i], b = below[i + 1], c = above[i + 1], d = above[i], low = Math.min(a, b, c, d), high = Math.max(a, b, c, d);
      if (!right[i]) continue;
      for (let l = 0; l < levels.length; l++) {
        const level = levels[l];
        if (level > low && level <= high) cut([a - level, b - level, c - level, d - level], i, k, stride, found[l]);
      }
    }
  }
  return found;
}

// The segments within one square, from its corners.
function cut(corners, i, k, stride, found) {
  const cuts = [];
  for (let edge = 0; edge < 4; edge++) {
    const [a, b] = [corners[edge], corners[(edge + 1) % 4]];
    if (a < 0 === b < 0) continue;
    const t = a / (a - b);
    cuts.push([[i + t, k], [i + 1, k + t], [i + 1 - t, k + 1], [i, k + 1 - t]][edge]);
  }
  for (let c = 0; c + 1 < cuts.length; c += 2) found.push([cuts[c], cuts[c + 1]].map(([x, y]) => [x * stride, y * stride]));
}
