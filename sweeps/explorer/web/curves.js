// The frequencies of all modes along one axis through the cell; `marks` are those of one more value, solved exactly, and
// `branches`, lists of [point, mode], say how modes go on.
function drawCurves(canvas, sweep, state, marks = null, branches = null) {
  const axis = sweep.axes[state.x];
  const { context, width, height } = fitted(canvas, 320);
  const box = { left: 62, top: 10, width: width - 62 - 40, height: height - 54 };
  const lines = curvesThrough(sweep, state, state.at);
  const pinned = state.pin ? curvesThrough(sweep, state, state.pin) : [];
  const known = [...lines, ...pinned, marks?.hertz ?? []].flat().filter((value) => value >= 0);
  const level = state.level === null ? [] : [state.level];
  let low = Math.min(...known, ...level);
  let high = Math.max(...known, ...level);
  if (!(high > low)) [low, high] = known.length ? [0.9 * low, 1.1 * high || 1] : [0, 1];
  const logarithmic = state.log && low > 0;
  if (!logarithmic) low = 0;
  const scale = logarithmic ? Math.log : (value) => value;
  const toX = (i) => box.left + axis.place(i) * box.width;
  const toY = (value) => box.top + box.height * (1 - (scale(value) - scale(low)) / (scale(high) - scale(low)));
  const text = themeColour("--text");
  const faint = themeColour("--faint");
  context.fillStyle = text;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of (logarithmic ? logTicks : niceTicks)(low, high, 6)) {
    context.fillStyle = faint;
    context.fillRect(box.left, toY(tick), box.width, 1);
    context.fillStyle = text;
    context.fillText(shortNumber(tick, 4), box.left - 8, toY(tick));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  const bottom = box.top + box.height;
  let free = -Infinity;
  for (const tick of axis.ticks(Math.max(2, Math.floor(box.width / 64)))) {
    const x = axis.uniform ? box.left + (tick.at / (axis.size - 1)) * box.width : toX(tick.at);
    context.fillRect(x - 0.5, bottom, 1, 5);
    if (x - free < 34) continue;
    context.fillText(tick.text, x, bottom + 7);
    free = x;
  }
  context.fillText(axis.label, box.left + box.width / 2, bottom + 25);
  context.save();
  context.translate(12, box.top + box.height / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "top";
  context.fillText("frequency [Hz]", 0, -4);
  context.restore();
  if (state.low !== null && state.high !== null) {
    const [top, end] = [Math.min(state.high, high), Math.max(state.low, low)];
    context.fillStyle = "rgba(213,94,0,0.2)";
    if (top > end) context.fillRect(box.left, toY(top), box.width, toY(end) - toY(top));
  }
  pinned.forEach((values, mode) => drawCurve(context, values, toX, toY, axis, modeColour(mode), 1.2, [5, 4]));
  const here = state.at[state.x];
  (branches ?? lines.map((values, mode) => values.map((_, i) => [i, mode]))).forEach((own, k) => {
    const values = Array(axis.size).fill(NaN), chosen = own.some(([i, mode]) => i === here && mode === state.mode);
    for (const [i, mode] of own) values[i] = lines[mode][i];
    drawCurve(context, values, toX, toY, axis, modeColour(k), chosen ? 3 : 1.5, []);
  });
  lines.forEach((values, mode) => {
    drawDoubtful(context, sweep, state, mode, values, toX, toY, bottom);
    const last = values.at(-1);
    context.fillStyle = text;
    context.textAlign = "left";
    context.textBaseline = "middle";
    if (last >= 0) context.fillText(String(sweep.modes[mode]), toX(axis.size - 1) + 7, toY(last));
  });
  if (level.length) {
    context.strokeStyle = COLOURS[1];
    context.lineWidth = 2;
    context.setLineDash([2, 3]);
    context.strokeRect(box.left, toY(state.level), box.width, 0);
    context.setLineDash([]);
  }
  const between = box.left + axis.placeOfValue(marks?.value ?? NaN) * box.width;
  if (between >= box.left && between <= box.left + box.width) {
    for (const value of marks.hertz) {
      if (!(value >= 0)) continue;
      context.fillStyle = COLOURS[1];
      context.fillRect(between - 4, toY(value) - 4, 8, 8);
    }
  }
  context.fillStyle = text;
  context.fillRect(toX(state.at[state.x]) - 0.5, box.top, 1, box.height);
  context.strokeStyle = text;
  context.lineWidth = 1;
  context.strokeRect(box.left, box.top, box.width, box.height);
  return {
    cellAt: (x) => {
      let best = 0;
      for (let i = 1; i < axis.size; i++) if (Math.abs(toX(i) - x) < Math.abs(toX(best) - x)) best = i;
      return best;
    },
  };
}

function modeColour(mode) {
  return COLOURS[mode % COLOURS.length];
}

function curvesThrough(sweep, state, at) {
  const base = sweep.flat(at.map((i, k) => (k === state.x ? 0 : i)));
  const points = Array.from({ length: sweep.axes[state.x].size }, (_, i) => base + i * sweep.strides[state.x]);
  return sweep.modes.map((_, mode) => points.map((flat) => sweep.value(state.theory, mode, flat)));
}

// A line through what has values; points where the axis has no order, and where neighbours have none.
function drawCurve(context, values, toX, toY, axis, colour, width, dash) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  let open = false;
  values.forEach((value, i) => {
    if (Number.isNaN(value)) {
      open = false;
    } else if (open && axis.joins(i - 1, i)) {
      context.lineTo(toX(i), toY(value));
    } else {
      context.moveTo(toX(i), toY(value));
      open = true;
    }
  });
  context.stroke();
  context.setLineDash([]);
  values.forEach((value, i) => {
    const alone = Number.isNaN(values[i - 1] ?? NaN) && Number.isNaN(values[i + 1] ?? NaN);
    const shown = !axis.single || values.length <= 60 || alone || axis.values[i] === Infinity;
    if (Number.isNaN(value) || !shown) return;
    context.beginPath();
    context.arc(toX(i), toY(value), width + 0.8, 0, 2 * Math.PI);
    context.fill();
  });
}

// Crosses where a mode is not certified: at its value, or at the bottom where it has none.
function drawDoubtful(context, sweep, state, mode, values, toX, toY, bottom) {
  const base = sweep.flat(state.at.map((i, k) => (k === state.x ? 0 : i)));
  context.strokeStyle = themeColour("--warning");
  context.lineWidth = 2;
  values.forEach((value, i) => {
    if (sweep.statusOf(state.theory, mode, base + i * sweep.strides[state.x]) === 0) return;
    const [x, y] = [toX(i), Number.isNaN(value) ? bottom - 5 : toY(value)];
    context.beginPath();
    context.moveTo(x - 4, y - 4);
    context.lineTo(x + 4, y + 4);
    context.moveTo(x - 4, y + 4);
    context.lineTo(x + 4, y - 4);
    context.stroke();
  });
}
