// Small vectors, and an eye that turns about what it sees: orthographic, z of the ground upwards.

const plus = (a, b, share = 1) => [a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const crossed = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const long = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => { const size = long(a) || 1; return [a[0] / size, a[1] / size, a[2] / size]; };
/** A vector given in axes whose columns are the directions of `axes`, nine numbers by rows. */
const seenIn = (axes, v) => [0, 3, 6].map((k) => axes[k] * v[0] + axes[k + 1] * v[1] + axes[k + 2] * v[2]);
const column = (axes, k) => [axes[k], axes[3 + k], axes[6 + k]];

/** A vector turned by a rotation vector. */
function turnedBy(w, v) {
  const angle = long(w);
  if (angle < 1e-12) return v;
  const n = unit(w), c = Math.cos(angle), s = Math.sin(angle), along = dot(n, v) * (1 - c), across = crossed(n, v);
  return [0, 1, 2].map((k) => v[k] * c + across[k] * s + n[k] * along);
}

/** Axes turned by a rotation vector. */
function axesTurned(w, axes) {
  const [x, y, z] = [0, 1, 2].map((k) => turnedBy(w, column(axes, k)));
  return [0, 1, 2].flatMap((k) => [x[k], y[k], z[k]]);
}

const VIEWS = { oblique: [-45, 35], "x-z": [-90, 0], "y-z": [0, 0], "x-y": [-90, 90] };
const within = (x, low, high) => Math.max(low, Math.min(high, x));

/** Where the eye is: degrees about z and above the ground, and how near. Turned by drags, the wheel and keys. */
class Eye {
  constructor(canvas, moved) {
    this.canvas = canvas;
    this.moved = moved;
    [this.yaw, this.pitch] = VIEWS.oblique;
    this.zoom = 1;
    this.listen();
  }

  // `moved` is told at once, and again, with true, when the eye rests: browsers allow few changes of an address.
  to(yaw, pitch, zoom) {
    this.yaw = ((((yaw + 180) % 360) + 360) % 360) - 180;
    this.pitch = within(pitch, -90, 90);
    this.zoom = within(zoom, 0.2, 20);
    this.moved(false);
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.moved(true), 150);
  }

  listen() {
    const { canvas } = this, at = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      at.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
      const last = at.get(pointerId);
      if (!last) return;
      const before = [...at.values()];
      at.set(pointerId, [clientX, clientY]);
      if (at.size === 1) this.to(this.yaw - 0.4 * (clientX - last[0]), this.pitch + 0.4 * (clientY - last[1]), this.zoom);
      if (at.size === 2) { // two fingers
        const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
        this.to(this.yaw, this.pitch, (this.zoom * apart([...at.values()])) / apart(before));
      }
    });
    for (const name of ["pointerup", "pointercancel"])
      canvas.addEventListener(name, ({ pointerId }) => at.delete(pointerId));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.to(this.yaw, this.pitch, this.zoom * Math.exp(-0.0015 * event.deltaY));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey) return;
      const step = { ArrowLeft: [-5, 0, 1], ArrowRight: [5, 0, 1], ArrowUp: [0, 5, 1], ArrowDown: [0, -5, 1], "+": [0, 0, 1.2], "=": [0, 0, 1.2], "-": [0, 0, 1 / 1.2] }[key];
      if (!step) return;
      event.preventDefault();
      this.to(this.yaw + step[0], this.pitch + step[1], this.zoom * step[2]);
    });
  }

  /** Directions to the right, upwards and towards the eye. */
  axes() {
    const a = (this.yaw * Math.PI) / 180, p = (this.pitch * Math.PI) / 180;
    const c = Math.cos(a), s = Math.sin(a), cp = Math.cos(p), sp = Math.sin(p);
    return { right: [-s, c, 0], up: [-sp * c, -sp * s, cp], near: [cp * c, cp * s, sp] };
  }

  written() {
    return [this.yaw, this.pitch].map((x) => Math.round(10 * x) / 10).join(",") + `,${Number(this.zoom.toPrecision(3))}`;
  }

  read(text) {
    const given = (text ?? "").split(",").map(Number);
    if (given.length === 3 && given.every(Number.isFinite) && given[2] > 0) this.to(...given);
  }
}
