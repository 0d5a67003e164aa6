// The picture of an arm in space: it turns, and the chosen mode moves.

// largest displacement beside the reach of the arm, and largest rotation, that are drawn
const DRAWN_SHARE = 0.1, DRAWN_TURN = 0.4;

class SpacePicture {
  constructor(about, changed) {
    this.about = about;
    this.canvas = byId("arm");
    this.shown = null;
    this.eye = new Eye(this.canvas, (settled) => {
      this.stale = true;
      if (settled) changed();
    });
    for (const [name, view] of Object.entries(VIEWS)) {
      const button = element("button", name, { type: "button" });
      button.addEventListener("click", () => this.eye.to(...view, 1));
      byId("views-of").append(button);
    }
    for (const kind of ["png", "svg"]) byId("views-of").append(element("button", kind.toUpperCase(), { type: "button", id: `arm-${kind}` }));
    offerPictures("arm", "arm", (other) => this.paint(other, this.last ?? 0));
    new ResizeObserver(() => { this.stale = true; }).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.stale = true; });
  }

  written() {
    return { view: this.eye.written() };
  }

  read(given) {
    if (given.has("view")) this.eye.read(given.get("view"));
  }

  /** What has been solved: places at rest, the mode that moves over them, the values of that arm. */
  draw(answer, value, first = {}, pinned = null) {
    this.first = first;
    this.pinned = pinned;
    const rest = answer.places.map(({ inner, outer }) => [inner, outer]);
    const rows = answer.drawn ? answer.drawn.links : rest.map((at) => ({ at, moved: at.map(() => [0, 0, 0]), turned: at.map(() => [0, 0, 0]) }));
    const largest = Math.max(...rows.flatMap(({ turned }) => turned.map(long)));
    this.amplitude = Math.min(DRAWN_SHARE * this.about.reach, largest > 0 ? DRAWN_TURN / largest : Infinity);
    this.moves = answer.drawn !== null;
    this.shown = { places: answer.places, rows, value };
    this.measure(rest);
    this.stale = true;
    const tip = this.tip(rows.length - 1, 0);
    this.canvas.setAttribute("aria-label", `The arm in its posture, which turns, tip at ${["x", "y", "z"].map((name, k) => `${name} ${shortNumber(tip[k], 3)} m`).join(", ")}`);
  }

  // The first posture sets what is seen, so that nothing jumps as joints turn.
  measure(rest) {
    if (this.middle) return;
    const points = [[0, 0, 0], ...rest.flat()], low = [0, 1, 2].map((k) => Math.min(...points.map((p) => p[k])));
    const high = [0, 1, 2].map((k) => Math.max(...points.map((p) => p[k])));
    this.middle = low.map((x, k) => 0.5 * (x + high[k]));
    this.half = 0.62 * (long(plus(high, low, -1)) || 1);
  }

  /** A point of link k at its inner end (0) or outer end (-1), its axes, and how it has moved. */
  end(k, which, share) {
    const { rows, places } = this.shown, row = rows[k], j = which < 0 ? row.at.length - 1 : 0, s = share * this.amplitude;
    return { point: plus(row.at[j], row.moved[j], s), axes: axesTurned(row.turned[j].map((x) => s * x), places[k].axes) };
  }

  seen(k, which, share, offset) {
    const { point, axes } = this.end(k, which, share);
    return plus(point, seenIn(axes, offset));
  }

  // A place in the axes of a section with what values have moved it by, along the axes of the link: by address and given.
  movedBy(place, own, values, sign) {
    const moved = values.map(([name, x]) => sign * (this.shown.value(name, x) - x));
    return moved.length ? place.map((x, i) => x + own[3 * i] * moved[0] + own[3 * i + 1] * moved[1] + own[3 * i + 2] * moved[2]) : place;
  }

  tip(k, share) {
    return this.seen(k, -1, share, this.atTip(k, this.about.links[k].tip));
  }

  // Places that are fixed to the tip of a link, and to its joint.
  atTip(k, place) {
    const { own, offsets } = this.about.links[k];
    return this.movedBy(place, own, offsets.end_offset, 1);
  }

  atJoint(k, place) {
    const { own, offsets } = this.about.links[k];
    return this.movedBy(place, own, offsets.base_offset, -1);
  }

  // Where a body has its centre, in the axes of its section.
  centreOf({ by, centre, seen, own, at }, k) {
    const moved = this.movedBy(centre, own, seen.map((x, j) => [by.replace(/mass$/, `centre.${"xyz"[j]}`), x]), 1);
    return at === "inner" ? this.atJoint(k, moved) : this.atTip(k, moved);
  }

  frame(share) {
    if (!this.shown || (!this.moves && !this.stale) || (share === this.last && !this.stale)) return;
    this.stale = false;
    this.last = share;
    this.paint(this.canvas, share);
  }

  paint(canvas, share) {
    const style = getComputedStyle(document.documentElement), of = (name) => rgb(style.getPropertyValue(name));
    const colours = {
      link: of("--link"), rigid: of("--muted"), text: of("--text"), faint: of("--faint"), body: of("--body"), joint: [213, 94, 0], still: of("--back"),
      payload: [0, 158, 115], red: [213, 60, 40], green: [30, 150, 60], blue: [60, 110, 220],
    };
    const scene = new Scene(canvas, this.eye, { ...this, colours });
    this.ground(scene);
    const { links } = this.about, { rows } = this.shown;
    const thin = 0.007 * this.half;
    links.forEach((link, k) => {
      const start = this.end(k, 0, share), joint = this.seen(k, 0, share, this.atJoint(k, links[k].joint)), tip = this.tip(k, share);
      scene.line(rows[k].at, "text", 1, [4, 4]);
      for (const way of [[joint, start.point], [this.end(k, -1, share).point, tip]])
        if (long(plus(way[0], way[1], -1)) > 1e-9) scene.cylinder(way[0].map((x, i) => (x + way[1][i]) / 2), plus(way[1], way[0], -1), 0.8 * thin, 0.5 * long(plus(way[1], way[0], -1)), 8, "rigid");
      this.link(scene, link, k, share, thin);
      if (!link.segment) this.jointOf(scene, link, k, joint, link.way ? start.axes : k > 0 ? this.end(k - 1, -1, share).axes : [1, 0, 0, 0, 1, 0, 0, 0, 1]);
      for (const body of link.bodies) this.body(scene, body, k, share);
      for (const support of link.supports) this.support(scene, support, tip, this.tip(k, 0));
    });
    this.ghost(scene);
    scene.paint();
    scene.legend();
  }

  // The pinned posture, as a line through its links.
  ghost(scene) {
    if (!this.pinned) return;
    const ends = this.pinned.map(({ inner, outer }) => [inner, outer]);
    scene.line([[0, 0, 0], ...ends.flat()], "payload", 2.5, [7, 4]);
  }

  ground(scene) {
    const step = 0.25 * this.half, most = 4;
    for (let i = -most; i <= most; i++) {
      scene.line([[i * step, -most * step, 0], [i * step, most * step, 0]], "faint", 0.6, [], -1e3 * this.half);
      scene.line([[-most * step, i * step, 0], [most * step, i * step, 0]], "faint", 0.6, [], -1e3 * this.half);
    }
    const side = Math.max(0.09 * this.half, 2.2 * this.about.links[0].half[0]);
    scene.cylinder([0, 0, 0], [0, 0, 1], side, 0.012 * this.half, 4, this.about.elastic ? "still" : "rigid");
  }

  link(scene, link, k, share, thin) {
    const { rows, places } = this.shown, row = rows[k], s = share * this.amplitude, [y, z] = this.halfOf(link).map((x) => Math.max(x, thin));
    if (!(long(plus(row.at.at(-1), row.at[0], -1)) > 0)) return;
    const corners = link.round
      ? Array.from({ length: 12 }, (_, i) => [y * Math.cos((i * Math.PI) / 6), z * Math.sin((i * Math.PI) / 6)])
      : [[-y, -z], [y, -z], [y, z], [-y, z]];
    const rings = row.at.map((at, j) => {
      const axes = axesTurned(row.turned[j].map((x) => s * x), places[k].axes), point = plus(at, row.moved[j], s);
      return corners.map(([a, b]) => plus(plus(point, column(axes, 1), a), column(axes, 2), b));
    });
    scene.tube(rings, link.rigid ? "rigid" : "link");
  }

  // Half of depth and width, with the sizes that the arm has now.
  halfOf({ half, by }) {
    return half.map((x, i) => x * (by[i] && this.first[by[i]] ? this.shown.value(by[i], this.first[by[i]]) / this.first[by[i]] : 1));
  }

  // Filled where it gives way; a bar where it slides.
  jointOf(scene, link, k, point, axes) {
    const way = seenIn(axes, link.axis), thick = Math.max(...this.halfOf(link), this.halfOf(this.about.links[Math.max(0, k - 1)])[0], 0.016 * this.half);
    const gives = link.springs.some((name) => Number.isFinite(this.shown.value(name, Infinity)));
    const radius = Math.min(1.2 * thick, 0.08 * this.half);
    scene.cylinder(point, way, link.way ? 0.8 * radius : radius, radius, link.way ? 4 : 14, gives ? "joint" : "still", 0.4 * radius);
    const along = 0.13 * this.half;
    scene.line([plus(point, way, -along), plus(point, way, along)], "joint", 1.2);
    scene.text(plus(point, way, along), link.name || String(k + 1), "text", this.half);
  }

  // From the tip to a plate on the ground, or a disc about what holds it from turning, before the bodies there; of the
  // colour of joints where it gives way.
  support(scene, { by, turns, along }, tip, rest) {
    const stiffness = this.shown.value(by, Infinity), colour = Number.isFinite(stiffness) ? "joint" : "rigid", over = 0.4 * this.half;
    if (stiffness === 0) return;
    if (turns) { scene.cylinder(tip, along, 0.1 * this.half, 0.004 * this.half, 14, colour, over); return; }
    const foot = plus(rest, along, (along[2] < 0 ? 0.32 : -0.32) * this.half);
    scene.line([tip, foot], colour, 2.5, [], over);
    scene.cylinder(foot, along, 0.07 * this.half, 0.008 * this.half, 4, colour, over);
  }

  body(scene, body, k, share) {
    const mass = this.shown.value(body.by, body.mass);
    if (!(mass > 0)) return;
    const which = body.at === "inner" ? 0 : -1, { axes } = this.end(k, which, share), centre = this.seen(k, which, share, this.centreOf(body, k));
    let halves = body.squares.map((x) => Math.sqrt(x / mass));
    if (!(Math.max(...halves) > 0)) halves = halves.map(() => Math.cbrt((0.75 * mass) / (Math.PI * this.about.density)));
    const columns = [0, 1, 2].map((i) => seenIn(axes, body.axes.map((row) => row[i])).map((x) => x * halves[i]));
    scene.ellipsoid(centre, columns, body.kind === "payload" ? "payload" : "body");
  }
}

const makePicture = (about, depths, changed) => new SpacePicture(about, changed);
