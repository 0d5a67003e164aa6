// A canvas as wide as there is room, sharp on every screen, in the colours of the theme.

function fitted(canvas, height) {
  const width = Math.max(240, canvas.parentElement.clientWidth);
  const ratio = canvas.vector ? 1 : Math.min(3, devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = "12px system-ui, sans-serif";
  return { context, width, height };
}

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
