// Numbers as text, marks on axes, and colours that colour-blind readers can tell apart.

// Cividis at 33 places.
const ANCHORS =
  "00224e00285b002e6a0533711a386f273e6e32436d3b496c434e6c4b546c535a6d5a5f6e61656f686a716f70737676767d7c788482798c8878938e789b9476a39a74aba072b4a76fbcae6cc4b468cdbb63d5c25edec958e7d150f0d846f9e03afee838";
// Okabe and Ito's colours.
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7f7f7f"];

// 256 colours as ImageData has them, opaque, in the byte order of nearly all machines.
const SHADES = (() => {
  const shades = new Uint32Array(256);
  const anchor = (k, channel) => parseInt(ANCHORS.slice(6 * k + 2 * channel, 6 * k + 2 * channel + 2), 16);
  for (let i = 0; i < 256; i++) {
    const place = (i / 255) * 32;
    const k = Math.min(31, Math.floor(place));
    const [r, g, b] = [0, 1, 2].map((c) => Math.round(anchor(k, c) + (place - k) * (anchor(k + 1, c) - anchor(k, c))));
    shades[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  return shades;
})();

function shade(share) {
  return SHADES[Math.max(0, Math.min(255, Math.round(255 * share)))];
}

function shortNumber(value, digits = 5) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, power] = value.toExponential(Math.max(0, digits - 1)).split("e");
    return `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${Number(power)}`;
  }
  return value.toPrecision(digits).includes("e")
    ? String(Math.round(value))
    : value.toPrecision(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function withUnit(value, unit) {
  if (unit === "degree") return `${shortNumber(value)}°`;
  return unit === "1" || value === Infinity ? shortNumber(value) : `${shortNumber(value)} ${unit}`;
}

function niceTicks(low, high, most, unit = "") {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  // angles are marked at multiples of 45 and the like
  const steps = unit === "degree" && high - low >= 90 ? [15, 30, 45, 90, 180] : [1, 2, 5, 10].map((s) => s * power);
  const step = steps.find((size) => size >= rough) ?? 10 * power;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

function logTicks(low, high, most) {
  const found = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
    for (const s of [1, 2, 5]) if (s * 10 ** p >= low && s * 10 ** p <= high) found.push(s * 10 ** p);
  if (found.length < 2) return niceTicks(low, high, most).filter((value) => value > 0);
  const decades = found.filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9);
  return found.length > 2 * most && decades.length > 1 ? decades : found;
}
