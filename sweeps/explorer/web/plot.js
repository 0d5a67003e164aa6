// Lines over two axes with their ticks: what the views of an arm draw on a canvas.

// A scale of `size` pixels from `start`; `low` and `high` are its ends.
function makeScale({ low, high, logarithmic }, start, size) {
  const along = logarithmic ? Math.log : (x) => x, from = along(low), span = along(high) - from || 1;
  return {
    to: (x) => start + (size * (along(x) - from)) / span,
    back: (pixel) => { const x = from + ((pixel - start) / size) * span; return logarithmic ? Math.exp(x) : x; },
    ticks: (most) => (logarithmic ? logTicks : niceTicks)(low, high, most),
  };
}

// Draws `lines` of { x, y, colour, width, dash }, and upright `marks` of { x, colour }; returns what a pixel stands for.
function drawPlot(canvas, { x, y, lines, marks = [], height = 300 }) {
  const { context, width } = fitted(canvas, height), text = themeColour("--text"), faint = themeColour("--faint");
  const box = { left: 66, top: 12, width: width - 66 - 26, height: height - 56 }, bottom = box.top + box.height;
  const across = makeScale(x, box.left, box.width), upwards = makeScale(y, bottom, -box.height);
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of upwards.ticks(6)) {
    context.fillStyle = faint;
    context.fillRect(box.left, upwards.to(tick), box.width, 1);
    context.fillStyle = text;
    context.fillText(shortNumber(tick, 4), box.left - 8, upwards.to(tick));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of across.ticks(Math.max(2, Math.floor(box.width / 64)))) {
    context.fillRect(across.to(tick) - 0.5, bottom, 1, 5);
    context.fillText(shortNumber(tick, 4), across.to(tick), bottom + 7);
  }
  context.fillText(x.label, box.left + box.width / 2, bottom + 25);
  context.save();
  context.translate(12, box.top + box.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(y.label, 0, -4);
  context.restore();
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  for (const mark of marks) {
    context.fillStyle = mark.colour;
    context.fillRect(across.to(mark.x) - 0.5, box.top, 1, box.height);
  }
  for (const line of lines) {
    context.strokeStyle = line.colour;
    context.lineWidth = line.width ?? 1.5;
    context.setLineDash(line.dash ?? []);
    context.beginPath();
    let open = false;
    line.x.forEach((at, i) => {
      const known = Number.isFinite(line.y[i]) && (!y.logarithmic || line.y[i] > 0);
      if (known) context[open ? "lineTo" : "moveTo"](across.to(at), upwards.to(line.y[i]));
      open = known;
    });
    context.stroke();
  }
  context.restore();
  context.setLineDash([]);
  context.strokeStyle = text;
  context.lineWidth = 1;
  context.strokeRect(box.left, box.top, box.width, box.height);
  return { at: across.back };
}
