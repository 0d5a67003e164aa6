// The map over two parameters: colours, contours, the level, cells that are not certified, a band to avoid.

const MARGIN = { left: 62, right: 84, top: 10, bottom: 44 };

// Sizes a canvas to what the page gives it; drawing is in CSS pixels.
function onCanvas(image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

// Lines of a pattern inside what a mask covers.
function hatched(context, box, cover, colour, slope) {
  const layer = document.createElement("canvas");
  layer.width = Math.ceil(box.width);
  layer.height = Math.ceil(box.height);
  const inner = layer.getContext("2d");
  inner.imageSmoothingEnabled = false;
  cover(inner, layer.width, layer.height);
  inner.globalCompositeOperation = "source-in";
  inner.fillStyle = stripes(inner, colour, slope);
  inner.fillRect(0, 0, layer.width, layer.height);
  context.drawImage(layer, box.left, box.top, box.width, box.height);
}

function stripes(context, colour, slope) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const inner = tile.getContext("2d");
  inner.strokeStyle = colour;
  inner.lineWidth = 1.6;
  for (const shift of [-8, 0, 8]) {
    inner.beginPath();
    inner.moveTo(shift, slope > 0 ? 8 : 0);
    inner.lineTo(shift + 8, slope > 0 ? 0 : 8);
    inner.stroke();
  }
  return context.createPattern(tile, "repeat");
}

function drawContour(context, lines, toX, toY, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  for (const [[x0, y0], [x1, y1]] of lines) {
    context.moveTo(toX(x0), toY(y0));
    context.lineTo(toX(x1), toY(y1));
  }
  context.stroke();
}

// What is to be said of a map that has been drawn: cells that are not certified, the band to avoid, the level.
function statusText({ sweep, statusCounts, limited }) {
  const limits = limited ? " Beyond the limits of joints cells are veiled, and left out of shares and of extremes." : "";
  const others = [...statusCounts].map((count, code) => [code, count]).filter(([code, count]) => code && count);
  return others.length
    ? `Not certified among the cells shown (hatched, or empty where not computed): ${others.map(([code, count]) => `${count} ${sweep.statusName(code)}`).join(", ")}.${limits}`
    : `Every cell shown is certified.${limits}`;
}

function bandText({ nx, ny, bandCounts }, { low, high }) {
  if (!bandCounts) return "";
  const [free, inside, unknown] = bandCounts, total = free + inside + unknown, share = (count) => `${shortNumber((100 * count) / total, 3)} %`;
  if (total === 0) return "";
  return `${share(free)} of the ${total} cells ${total < nx * ny ? "within the limits of joints" : "shown"} have no mode between ${low} and ${high} Hz; ${share(inside)} have one (hatched)` +
    (unknown ? `; of ${share(unknown)} it is not known (not certified, or the highest mode computed lies below the band).` : ".");
}

function levelText({ sweep, levelFound }, { level, mode }) {
  return level !== null && !levelFound ? `No cell shown has ${level} Hz in mode ${sweep.modes[mode]}.` : "";
}

// What the map depends on beside the band, the level and the places of the cell and the pin on it.
function mapKey(canvas, sweep, state) {
  const others = state.at.filter((_, k) => k !== state.x && k !== state.y);
  const { theory, mode, x, y, slice } = state;
  const look = [canvas.parentElement.clientWidth, devicePixelRatio, themeColour("--text")];
  return JSON.stringify([theory, mode, x, y, slice, others, look]);
}

// Draws the map; of the last one only the band, the level and the marks are drawn anew where nothing else has changed.
function drawMap(canvas, sweep, state, last) {
  const key = mapKey(canvas, sweep, state);
  const slice = last?.key === key ? last : drawCells(canvas, sweep, { ...state }, key);
  const { toX, toY } = slice;
  const context = canvas.getContext("2d");
  if (!canvas.vector) {
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(slice.picture, 0, 0);
    context.restore();
  }
  drawBand(context, slice, state);
  drawLevel(context, slice, state);
  const mark = (index, colour, radius) => {
    const [x, y] = [toX(index[state.x]), toY(index[state.y])];
    for (const [line, width] of [["#ffffff", 4], [colour, 2]]) {
      context.strokeStyle = line;
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.moveTo(x - radius - 5, y);
      context.lineTo(x + radius + 5, y);
      context.moveTo(x, y - radius - 5);
      context.lineTo(x, y + radius + 5);
      context.stroke();
    }
  };
  if (state.pin) mark(state.pin, COLOURS[1], 5);
  mark(state.at, "#000000", 5);
  return slice;
}

function drawCells(canvas, sweep, state, key) {
  const slice = new Slice(sweep, state);
  const full = fitted(canvas, Math.min(460, Math.max(300, 0.75 * canvas.parentElement.clientWidth)));
  const { context } = full;
  const box = {
    left: MARGIN.left,
    top: MARGIN.top,
    width: full.width - MARGIN.left - MARGIN.right,
    height: full.height - MARGIN.top - MARGIN.bottom,
  };
  const toX = (x) => box.left + ((x + 0.5) * box.width) / slice.nx;
  const toY = (y) => box.top + box.height - ((y + 0.5) * box.height) / slice.ny;
  const range = slice.range();
  context.fillStyle = themeColour("--panel");
  context.fillRect(0, 0, full.width, full.height);
  context.fillStyle = themeColour("--empty");
  context.fillRect(box.left, box.top, box.width, box.height);
  context.imageSmoothingEnabled = false;
  const pixels = [box.width, box.height].map((x) => Math.ceil(x * (canvas.width / full.width)));
  context.drawImage(onCanvas(slice.pixels(range, ...pixels)), box.left, box.top, box.width, box.height);
  const text = themeColour("--text");
  slice.statusCounts = drawStatus(context, slice, box, text);
  if (slice.limited) veil(context, slice, box);
  if (slice.nx > 1 && slice.ny > 1) drawLines(context, slice, toX, toY);
  drawFrame(context, sweep, state, box, toX, toY, text);
  drawBar(context, box, range, text);
  const picture = document.createElement("canvas");
  [picture.width, picture.height] = [canvas.width, canvas.height];
  if (!canvas.vector) picture.getContext("2d").drawImage(canvas, 0, 0);
  const cellAt = (x, y) => [
    Math.max(0, Math.min(slice.nx - 1, Math.floor(((x - box.left) / box.width) * slice.nx))),
    Math.max(0, Math.min(slice.ny - 1, Math.floor(((box.top + box.height - y) / box.height) * slice.ny))),
  ];
  return Object.assign(slice, { key, picture, toX, toY, cellAt, box, colourRange: range, pixelsOf: pixels });
}

// Hatches cells whose mode is not certified; returns how many cells have each status.
function drawStatus(context, slice, box, colour) {
  const counts = new Uint32Array(256), bad = [], { status } = slice.sweep, { nx, ny, sx, sy, offset } = slice;
  if (slice.sweep.allCertified(slice.plane)) counts[0] = nx * ny;
  else for (let iy = 0; iy < ny; iy++)
    for (let ix = 0, at = offset + iy * sy; ix < nx; ix++, at += sx) {
      const code = status[at];
      counts[code]++;
      if (code !== 0 && code !== NOT_COMPUTED) bad.push([ix, iy]);
    }
  if (bad.length) {
    // cells smaller than 3 pixels would be lost
    const cover = (inner, w, h) => {
      const [cw, ch] = [w / slice.nx, h / slice.ny];
      const [width, height] = [Math.max(3, Math.ceil(cw)), Math.max(3, Math.ceil(ch))];
      for (const [ix, iy] of bad)
        inner.fillRect((ix + 0.5) * cw - width / 2, h - (iy + 0.5) * ch - height / 2, width, height);
    };
    hatched(context, box, cover, colour, 1);
  }
  return counts;
}

// Covers what lies beyond the limits of joints.
function veil(context, slice, box) {
  context.fillStyle = "rgba(128,128,128,0.72)";
  const [w, h] = [box.width / slice.nx, box.height / slice.ny];
  for (let ix = 0; ix < slice.nx; ix++) if (slice.elsewhere || slice.across[ix]) context.fillRect(box.left + ix * w, box.top, w, box.height);
  for (let iy = 0; iy < slice.ny; iy++) {
    if (!slice.upwards[iy]) continue;
    for (let ix = 0; ix < slice.nx; ix++) if (!slice.elsewhere && !slice.across[ix]) context.fillRect(box.left + ix * w, box.top + box.height - (iy + 1) * h, w, h);
  }
}

function drawLines(context, slice, toX, toY) {
  const levels = niceTicks(...slice.ends(), 7), labels = [];
  contours(slice, levels, strideOf(slice)).forEach((lines, k) => {
    drawContour(context, lines, toX, toY, "rgba(255,255,255,0.75)", 1);
    if (!lines.length) return;
    const [x, y] = lines[Math.floor(lines.length / 2)][0];
    const text = shortNumber(levels[k], 4), at = [toX(x), toY(y)];
    if (labels.some((other) => Math.abs(other[0] - at[0]) < 30 && Math.abs(other[1] - at[1]) < 14)) return; // there is no room
    labels.push(at);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.strokeStyle = "rgba(0,0,0,0.7)";
    context.strokeText(text, ...at);
    context.fillStyle = "#ffffff";
    context.fillText(text, ...at);
  });
}

// Lines go through no more points than can be told apart.
const strideOf = ({ nx, ny }) => Math.ceil(Math.max(nx, ny) / 400);

// The band to avoid, whose cells are counted where it has changed.
function drawBand(context, slice, { low, high }) {
  const key = low !== null && high !== null ? `${low},${high}` : null;
  if (slice.bandKey !== key) {
    const { image = null, counts = null } = key === null ? {} : slice.band(low, high, ...slice.pixelsOf);
    Object.assign(slice, { bandKey: key, bandCounts: counts, bandMask: image && onCanvas(image) });
  }
  if (slice.bandMask) hatched(context, slice.box, (inner, w, h) => inner.drawImage(slice.bandMask, 0, 0, w, h), COLOURS[1], -1);
}

// The line of a level, in the map and in the bar.
function drawLevel(context, slice, { level }) {
  slice.levelFound = false;
  if (level === null || slice.nx < 2 || slice.ny < 2) return;
  const { toX, toY, box, colourRange: [low, high] } = slice, [lines] = contours(slice, [level], strideOf(slice));
  slice.levelFound = lines.length > 0;
  drawContour(context, lines, toX, toY, "#ffffff", 5);
  drawContour(context, lines, toX, toY, COLOURS[1], 2.5);
  if (level < low || level > high || !(high > low)) return;
  context.fillStyle = COLOURS[1];
  context.fillRect(box.left + box.width + 10, box.top + box.height * (1 - (level - low) / (high - low)) - 1.5, 22, 3);
}

function drawFrame(context, sweep, state, box, toX, toY, text) {
  const [x, y] = [sweep.axes[state.x], sweep.axes[state.y]];
  context.strokeStyle = text;
  context.lineWidth = 1;
  context.strokeRect(box.left, box.top, box.width, box.height);
  context.fillStyle = text;
  context.textAlign = "center";
  context.textBaseline = "top";
  const bottom = box.top + box.height;
  for (const tick of x.ticks(Math.max(2, Math.floor(box.width / 64)))) {
    context.fillRect(toX(tick.at) - 0.5, bottom, 1, 5);
    context.fillText(tick.text, toX(tick.at), bottom + 7);
  }
  context.fillText(x.label, box.left + box.width / 2, bottom + 25);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of y.ticks(6)) {
    context.fillRect(box.left - 5, toY(tick.at) - 0.5, 5, 1);
    context.fillText(tick.text, box.left - 8, toY(tick.at));
  }
  context.save();
  context.translate(12, box.top + box.height / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(y.label, 0, 0);
  context.restore();
}

function drawBar(context, box, [low, high], text) {
  const left = box.left + box.width + 14;
  for (let k = 0; k < box.height; k++) {
    const colour = shade(1 - k / box.height);
    context.fillStyle = `rgb(${colour & 255},${(colour >> 8) & 255},${(colour >> 16) & 255})`;
    context.fillRect(left, box.top + k, 14, 1.5);
  }
  context.fillStyle = text;
  context.textAlign = "left";
  context.textBaseline = "middle";
  for (const tick of niceTicks(low, high, 6)) {
    const share = high > low ? (tick - low) / (high - low) : 0.5;
    const y = box.top + box.height * (1 - share);
    context.fillRect(left + 14, y - 0.5, 4, 1);
    context.fillText(shortNumber(tick, 4), left + 21, y);
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillText("Hz", left + 12, box.top + box.height + 7);
}
