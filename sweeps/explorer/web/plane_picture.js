// The picture of a planar arm: to scale, and the chosen mode moves over it.

class PlanePicture {
  constructor(about, depths) {
    Object.assign(this, { about, depths, move: null, last: null });
    offerPosture();
  }

  written() {
    return {};
  }

  read() {}

  draw(answer, value, first, pinned) {
    const { about, depths } = this, body = (owner, [mass, x, y]) => [value(`${owner}mass`, mass), value(`${owner}centre_x`, x), value(`${owner}centre_y`, y)];
    const posed = {
      ...about,
      rest: answer.places,
      depth: about.depth.map((depth, k) => depth * (value(depths[k], 1) / (first[depths[k]] ?? 1))),
      bodies: about.bodies.map((own, k) => body(`link${k + 1}.tip_`, own)),
      payload: body("payload.", about.payload),
    };
    const svg = byId("arm");
    drawArm(svg, posed, { at: [], pin: null });
    if (pinned) drawGhost(svg, { ...posed, rest: pinned });
    this.move = answer.drawn ? drawMoving(svg, answer.drawn) : null;
    this.last = null;
  }

  frame(share) {
    if (this.move && share !== this.last) this.move(share);
    this.last = share;
  }
}

const makePicture = (about, depths) => new PlanePicture(about, depths);
