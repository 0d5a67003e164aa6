// What an arm in space is drawn of: faces, bodies and lines with their depth, seen by an eye and painted from behind.

const rgb = (text) => [1, 3, 5].map((k) => parseInt(text.trim().slice(k, k + 2), 16));

class Scene {
  constructor(canvas, eye, { middle, half, colours }) {
    const box = canvas.getBoundingClientRect(), dense = canvas.vector ? 1 : devicePixelRatio || 1;
    this.width = Math.max(1, box.width);
    this.height = Math.max(1, box.height);
    const [w, h] = [this.width, this.height].map((x) => Math.round(x * dense));
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    this.c = canvas.getContext("2d");
    this.c.setTransform(dense, 0, 0, dense, 0, 0);
    Object.assign(this, eye.axes(), { middle, colours, items: [] });
    this.scale = (0.5 * eye.zoom * Math.min(this.width, this.height)) / half;
    this.light = unit(plus(plus(plus([0, 0, 0], this.right, -0.45), this.up, 0.65), this.near, 0.8));
  }

  at(point) {
    const v = plus(point, this.middle, -1);
    return [this.width / 2 + this.scale * dot(v, this.right), this.height / 2 - this.scale * dot(v, this.up)];
  }

  depth(point) {
    return dot(plus(point, this.middle, -1), this.near);
  }

  add(depth, paint) {
    this.items.push({ depth, paint });
  }

  /** A flat face of a solid about `inside`, lit by its direction, if it is seen; edges have its colour: no gaps show. */
  face(points, inside, colour, over) {
    let normal = unit(crossed(plus(points[1], points[0], -1), plus(points[points.length - 1], points[0], -1)));
    if (dot(normal, plus(points[0], inside, -1)) < 0) normal = normal.map((x) => -x);
    if (dot(normal, this.near) <= 0) return;
    const lit = 0.5 + 0.5 * Math.max(0, dot(normal, this.light)), [r, g, b] = this.colours[colour].map((x) => Math.round(x * lit));
    const depth = points.reduce((sum, p) => sum + this.depth(p), 0) / points.length;
    this.add(depth + over, (c) => {
      this.path(c, points);
      c.closePath();
      c.fillStyle = c.strokeStyle = `rgb(${r},${g},${b})`;
      c.lineWidth = 0.7;
      c.fill();
      c.stroke();
    });
  }

  path(c, points) {
    c.beginPath();
    points.forEach((p, k) => (k ? c.lineTo(...this.at(p)) : c.moveTo(...this.at(p))));
  }

  line(points, colour, width, dash = [], over = 0) {
    const depth = points.reduce((sum, p) => sum + this.depth(p), 0) / points.length + over;
    this.add(depth, (c) => {
      this.path(c, points);
      c.setLineDash(dash);
      c.lineWidth = width;
      c.strokeStyle = `rgb(${this.colours[colour]})`;
      c.stroke();
      c.setLineDash([]);
    });
  }

  text(point, words, colour, over) {
    this.add(this.depth(point) + over, (c) => {
      const [x, y] = this.at(point);
      c.font = "12px system-ui, sans-serif";
      c.fillStyle = `rgb(${this.colours[colour]})`;
      c.fillText(words, x + 7, y - 7);
    });
  }

  /** A ruled surface through rings of as many points each, with its two ends. */
  tube(rings, colour, over = 0) {
    const n = rings[0].length, middles = rings.map((ring) => ring.reduce((sum, p) => plus(sum, p, 1 / n), [0, 0, 0]));
    for (let j = 0; j + 1 < rings.length; j++) {
      const inside = plus(middles[j], plus(middles[j + 1], middles[j], -1), 0.5);
      for (let i = 0; i < n; i++) this.face([rings[j][i], rings[j][(i + 1) % n], rings[j + 1][(i + 1) % n], rings[j + 1][i]], inside, colour, over);
    }
    this.face(rings[0], middles[1], colour, over);
    this.face(rings[rings.length - 1], middles[middles.length - 2], colour, over);
  }

  /** A cylinder or, of four corners, a bar about an axis. */
  cylinder(centre, axis, radius, half, corners, colour, over = 0) {
    const n = unit(axis), first = unit(crossed(n, Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), second = crossed(n, first);
    const ring = (way) => Array.from({ length: corners }, (_, i) => {
      const a = (2 * Math.PI * (i + 0.5)) / corners;
      return plus(plus(plus(centre, n, way), first, radius * Math.cos(a)), second, radius * Math.sin(a));
    });
    this.tube([ring(-half), ring(half)], colour, over);
  }

  /** An ellipsoid by its half axes, three vectors: what is seen of it is an ellipse. */
  ellipsoid(centre, halves, colour) {
    const flat = halves.map((v) => [dot(v, this.right), -dot(v, this.up)]);
    const sum = (i, j) => this.scale ** 2 * flat.reduce((s, v) => s + v[i] * v[j], 0);
    const xx = sum(0, 0), xy = sum(0, 1), yy = sum(1, 1), mean = (xx + yy) / 2, apart = Math.hypot((xx - yy) / 2, xy);
    const radii = [mean + apart, mean - apart].map((x) => Math.max(2, Math.sqrt(Math.max(x, 0)))), angle = 0.5 * Math.atan2(2 * xy, xx - yy);
    this.add(this.depth(centre), (c) => {
      const [x, y] = this.at(centre), [r, g, b] = this.colours[colour];
      const shade = c.createRadialGradient(x - 0.3 * radii[1], y - 0.3 * radii[1], 0, x, y, radii[0]);
      shade.addColorStop(0, `rgba(${[r, g, b].map((v) => Math.round(v + 0.45 * (255 - v)))},0.5)`);
      shade.addColorStop(1, `rgba(${r},${g},${b},0.4)`);
      c.beginPath();
      c.ellipse(x, y, radii[0], radii[1], angle, 0, 2 * Math.PI);
      c.fillStyle = shade;
      c.strokeStyle = `rgb(${this.colours.text})`;
      c.lineWidth = 0.8;
      c.fill();
      c.stroke();
    });
  }

  paint() {
    this.c.clearRect(0, 0, this.width, this.height);
    this.items.sort((a, b) => a.depth - b.depth).forEach(({ paint }) => paint(this.c));
  }

  /** The axes of the ground and a length, in the corners. */
  legend() {
    const { c } = this, corner = [44, this.height - 40];
    c.font = "12px system-ui, sans-serif";
    c.lineWidth = 2;
    const ways = [["x", [1, 0, 0], "red"], ["y", [0, 1, 0], "green"], ["z", [0, 0, 1], "blue"]];
    ways.sort((a, b) => dot(a[1], this.near) - dot(b[1], this.near)).forEach(([name, way, colour]) => {
      const x = 26 * dot(way, this.right), y = -26 * dot(way, this.up);
      c.strokeStyle = c.fillStyle = `rgb(${this.colours[colour]})`;
      c.beginPath();
      c.moveTo(...corner);
      c.lineTo(corner[0] + x, corner[1] + y);
      c.stroke();
      c.fillText(name, corner[0] + 1.3 * x - 3, corner[1] + 1.3 * y + 4);
    });
    const most = (0.25 * this.width) / this.scale, power = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map((k) => k * power).find((x) => x <= most), end = this.width - 16, y = this.height - 14;
    c.strokeStyle = c.fillStyle = `rgb(${this.colours.text})`;
    c.beginPath();
    c.moveTo(end - length * this.scale, y);
    c.lineTo(end, y);
    c.stroke();
    const words = `${shortNumber(length)} m`;
    c.fillText(words, end - c.measureText(words).width, y - 6);
  }
}
