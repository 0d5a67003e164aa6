// A planar arm in its posture, to scale; the pinned posture behind it.

function svgElement(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// Angles, lengths and offsets of the arm at a cell.
function placesAt(arm, at) {
  const places = Object.fromEntries(Object.entries(arm.rest).map(([field, values]) => [field, [...values]]));
  for (const { axis, field, link, values } of arm.changes) places[field][link] = values[at[axis]];
  return places;
}

// Where the links are: the joint, start, end and tip of each, and unit vectors along and across.
function linksOf(places) {
  let joint = [0, 0];
  let angle = 0;
  return places.length.map((length, k) => {
    angle += places.joint_angle[k];
    const along = [Math.cos(angle), Math.sin(angle)];
    const across = [-along[1], along[0]];
    const moved = (from, x, y) => [from[0] + x * along[0] + y * across[0], from[1] + x * along[1] + y * across[1]];
    const start = moved(joint, places.base_offset_x[k], places.base_offset_y[k]);
    const end = moved(start, length, 0);
    const tip = moved(end, places.end_offset_x[k], places.end_offset_y[k]);
    const link = { joint, start, end, tip, across, moved };
    joint = tip;
    return link;
  });
}

function drawPosture(svg, arm, at, reach, faint) {
  const links = linksOf(placesAt(arm, at));
  const group = svgElement("g", { class: faint ? "ghost" : "posture" });
  const line = (from, to) => svgElement("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "offset" });
  links.forEach((link, k) => {
    const half = 0.5 * Math.max(arm.depth[k], 0.012 * reach);
    const corner = (point, side) => `${point[0] + side * half * link.across[0]},${point[1] + side * half * link.across[1]}`;
    const points = [corner(link.start, -1), corner(link.end, -1), corner(link.end, 1), corner(link.start, 1)];
    group.append(line(link.joint, link.start), line(link.end, link.tip));
    group.append(svgElement("polygon", { points: points.join(" "), class: "link" }));
  });
  links.forEach((link, k) => {
    if (k > 0 && !arm.segment[k])
      group.append(svgElement("circle", { cx: link.joint[0], cy: link.joint[1], r: 0.016 * reach, class: "joint" }));
  });
  const side = 0.05 * reach;
  group.append(svgElement("rect", { x: -side / 2, y: -side / 2, width: side, height: side, class: "base" }));
  const bodies = arm.bodies.map((body, k) => [...body, links[k], "body"]);
  bodies.push([...arm.payload, links.at(-1), "payload"]);
  const heaviest = Math.max(...bodies.map(([mass]) => mass));
  for (const [mass, x, y, link, kind] of bodies) {
    if (!(mass > 0)) continue;
    const [cx, cy] = link.moved(link.tip, x, y);
    const disc = svgElement("circle", { cx, cy, r: 0.045 * reach * Math.sqrt(mass / heaviest), class: kind });
    const title = svgElement("title", {});
    title.textContent = `${kind} ${shortNumber(mass)} kg`;
    disc.append(title);
    group.append(disc);
  }
  svg.append(group);
}

function drawArm(svg, arm, state) {
  svg.replaceChildren();
  const places = placesAt(arm, state.at);
  const reach = places.length.reduce(
    (sum, length, k) =>
      sum + length + Math.hypot(places.base_offset_x[k], places.base_offset_y[k]) +
      Math.hypot(places.end_offset_x[k], places.end_offset_y[k]),
    0,
  );
  const half = 1.12 * reach;
  svg.setAttribute("viewBox", `${-half} ${-half} ${2 * half} ${2 * half}`);
  const upright = svgElement("g", { transform: "scale(1,-1)" });
  svg.append(upright);
  upright.append(svgElement("line", { x1: -half, y1: 0, x2: half, y2: 0, class: "ground" }));
  upright.append(svgElement("line", { x1: 0, y1: -half, x2: 0, y2: half, class: "ground" }));
  if (state.pin) drawPosture(upright, arm, state.pin, reach, true);
  drawPosture(upright, arm, state.at, reach, false);
  const tip = linksOf(places).at(-1).tip;
  svg.setAttribute(
    "aria-label",
    `The arm in its posture, reach ${shortNumber(reach, 3)} m, tip at x ${shortNumber(tip[0], 3)} m, y ${shortNumber(tip[1], 3)} m`,
  );
}

// Another posture behind the arm.
function drawGhost(svg, arm) {
  const upright = svg.querySelector("g"), behind = svgElement("g", {}), reach = arm.rest.length.reduce((sum, length) => sum + length, 0);
  upright.prepend(behind);
  drawPosture(behind, arm, [], reach, true);
}

const makeArmView = (arm) => {
  offerPosture();
  return { draw: (state) => drawArm(byId("arm"), arm, state) };
};

const offerPosture = () => byId("arm-svg").addEventListener("click", () => offerVector(ownVector(byId("arm")), "arm"));
