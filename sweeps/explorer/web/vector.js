// A canvas that keeps what is drawn on it as SVG: all that the views draw, and no more than that.

const SHADES_OF = (gradient) => gradient.stops.map(([place, colour]) => `<stop offset="${place}" ${paint("stop-color", colour)}/>`).join("");
const short = (x) => Number(x.toFixed(2));
const marked = (text) => String(text).replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

// A colour as an attribute, its opacity as another one, which some programs want apart.
function paint(name, colour) {
  const parts = /^rgba\(([^,]+,[^,]+,[^,]+),([^)]+)\)$/.exec(colour);
  return parts ? `${name}="rgb(${parts[1]})" ${name.replace("-color", "")}-opacity="${parts[2]}"` : `${name}="${colour}"`;
}

class VectorCanvas {
  constructor(width, height) {
    Object.assign(this, { vector: true, width, height, style: {}, parentElement: { clientWidth: width } });
    this.context = new VectorContext();
  }

  getContext() {
    return this.context;
  }

  getBoundingClientRect() {
    return { width: this.width, height: this.height };
  }

  // `height` may have been set by what has drawn.
  text() {
    const height = parseFloat(this.style.height) || this.height, size = `0 0 ${this.width} ${height}`;
    const { parts, defined } = this.context, back = `<rect width="${this.width}" height="${height}" fill="${themeColour("--panel")}"/>`;
    return `<svg xmlns="${SVG}" width="${this.width}" height="${height}" viewBox="${size}"><defs>${defined.join("")}</defs>${back}${parts.join("\n")}</svg>\n`;
  }
}

class VectorContext {
  constructor() {
    Object.assign(this, { parts: [], defined: [], stack: [], move: "", clipped: "", dash: [], path: "", measure: document.createElement("canvas").getContext("2d") });
    Object.assign(this, { fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic", imageSmoothingEnabled: true });
  }

  put(text) {
    this.parts.push(this.move || this.clipped ? `<g${this.move && ` transform="${this.move}"`}${this.clipped && ` clip-path="url(#${this.clipped})"`}>${text}</g>` : text);
  }

  save() {
    this.stack.push([this.move, this.clipped, this.lineWidth, this.fillStyle, this.strokeStyle, this.textAlign, this.textBaseline]);
  }

  restore() {
    [this.move, this.clipped, this.lineWidth, this.fillStyle, this.strokeStyle, this.textAlign, this.textBaseline] = this.stack.pop();
  }

  setTransform() { // to pixels of a screen, which a drawing does not have
    this.move = "";
  }

  translate(x, y) {
    this.move += `translate(${short(x)} ${short(y)})`;
  }

  rotate(angle) {
    this.move += `rotate(${short((angle * 180) / Math.PI)})`;
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${short(x)} ${short(y)}`;
  }

  closePath() {
    this.path += "Z";
  }

  rect(x, y, w, h) {
    this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
  }

  // Whole circles and ellipses alone.
  arc(x, y, radius) {
    this.ellipse(x, y, radius, radius, 0);
  }

  ellipse(x, y, a, b, angle) {
    const dx = a * Math.cos(angle), dy = a * Math.sin(angle), turned = short((angle * 180) / Math.PI);
    const half = (way) => `A${short(a)} ${short(b)} ${turned} 1 1 ${short(x + way * dx)} ${short(y + way * dy)}`;
    this.path += `M${short(x + dx)} ${short(y + dy)}${half(-1)}${half(1)}`;
  }

  clip() {
    this.clipped = `clip${this.defined.length}`;
    this.defined.push(`<clipPath id="${this.clipped}"><path d="${this.path}"/></clipPath>`);
  }

  // A gradient is defined where it is used, with all its shades.
  filling() {
    if (typeof this.fillStyle === "string") return paint("fill", this.fillStyle);
    const name = `shade${this.defined.length}`, { x, y, radius } = this.fillStyle;
    this.defined.push(`<radialGradient id="${name}" gradientUnits="userSpaceOnUse" cx="${short(x)}" cy="${short(y)}" r="${short(radius)}">${SHADES_OF(this.fillStyle)}</radialGradient>`);
    return `fill="url(#${name})"`;
  }

  lines() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash}"` : "";
    return `fill="none" ${paint("stroke", this.strokeStyle)} stroke-width="${this.lineWidth}"${dash}`;
  }

  stroke() {
    this.put(`<path d="${this.path}" ${this.lines()}/>`);
  }

  fill() {
    this.put(`<path d="${this.path}" ${this.filling()}/>`);
  }

  box(x, y, w, h) {
    const [left, top] = [Math.min(x, x + w), Math.min(y, y + h)].map(short);
    return `<rect x="${left}" y="${top}" width="${short(Math.abs(w))}" height="${short(Math.abs(h))}"`;
  }

  fillRect(x, y, w, h) {
    this.put(`${this.box(x, y, w, h)} ${this.filling()}/>`);
  }

  strokeRect(x, y, w, h) {
    const line = h === 0 ? `<path d="M${short(x)} ${short(y)}h${short(w)}"` : this.box(x, y, w, h);
    this.put(`${line} ${this.lines()}/>`);
  }

  clearRect() {}

  words(text, x, y, look) {
    const anchor = { center: "middle", right: "end" }[this.textAlign] ?? "start";
    const down = { middle: 0.35, top: 0.8 }[this.textBaseline] ?? 0, size = parseFloat(this.font);
    this.put(`<text x="${short(x)}" y="${short(y + down * size)}" font-size="${size}" font-family="system-ui, sans-serif" text-anchor="${anchor}" ${look}>${marked(text)}</text>`);
  }

  fillText(text, x, y) {
    this.words(text, x, y, this.filling());
  }

  strokeText(text, x, y) {
    this.words(text, x, y, this.lines());
  }

  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  createRadialGradient(x0, y0, r0, x, y, radius) {
    const stops = [];
    return { x, y, radius, stops, addColorStop: (place, colour) => stops.push([place, colour]) };
  }

  drawImage(canvas, x, y, w, h) {
    const sharp = this.imageSmoothingEnabled ? "" : ' style="image-rendering: pixelated"';
    this.put(`<image x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" preserveAspectRatio="none"${sharp} href="${canvas.toDataURL()}"/>`);
  }
}

// What the page has drawn as SVG of its own, with the looks that its style gives.
function ownVector(svg) {
  const copy = svg.cloneNode(true), { width, height } = svg.getBoundingClientRect(), names = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "vector-effect"];
  const own = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
    const style = getComputedStyle(own[k]);
    for (const name of names) element.setAttribute(name, style.getPropertyValue(name));
  });
  for (const [name, value] of [["xmlns", SVG], ["width", width], ["height", height]]) copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

const offerVector = (text, name) => offer(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);

// Buttons that give what a canvas shows as a file; `draw` draws it on another one, as wide as that.
function offerPictures(id, name, draw) {
  const canvas = byId(id);
  byId(`${id}-png`).addEventListener("click", () => canvas.toBlob((blob) => offer(blob, `${name}.png`)));
  byId(`${id}-svg`).addEventListener("click", () => {
    const other = new VectorCanvas(canvas.clientWidth, canvas.clientHeight);
    draw(other);
    offerVector(other.text(), name);
  });
}
