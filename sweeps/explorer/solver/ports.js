// Ports: places of an arm and directions there, at which it is driven and answers; a spring at each says how much.

/** A vector of size 1. */
function unitOf(direction) {
  if (!Array.isArray(direction) || !(Math.hypot(...direction) > 0)) throw new Error(`direction = ${direction}: must be a direction by name, or numbers of which one is not 0.`);
  const size = Math.hypot(...direction);
  return direction.map((x) => x / size);
}

/**
 * The arm cut at the stations of ports, and its ports as springs. A port is `{ link, direction }`, the tip of a link by its
 * number from 0; `{ link, station, direction }`, a share of the length of its elastic part, between 0 and 1; or
 * `{ link, direction: "torque" }`, the motor of a joint between the links. `direction` is a name, in the plane x, y, along,
 * across or turn, in space x, y, z, rx, ry, rz or these in the axes of the link, link_x and so on; or components.
 */
function atPorts(arm, ports) {
  const cuts = new Map(), places = ports.map((port) => {
    if (port.station === undefined) return null;
    if (!(port.station > 0 && port.station < 1)) throw new Error(`station = ${port.station}: must be more than 0, and less than 1.`);
    const place = stationOf(arm, port);
    if (place.share > 0) cuts.set(place.at, [...new Set([...(cuts.get(place.at) ?? []), place.share])].sort((a, b) => a - b));
    return place;
  });
  const cut = cuts.size > 0 ? cutAt(arm, (i) => cuts.get(i) ?? []) : arm;
  const springs = ports.map((port, k) => {
    if (port.direction === "torque") return { joint: jointOf(cut, port.link), k: 1 };
    return { ...portOf(cut, port, places[k] && places[k].share > 0 ? cuts.get(places[k].at).indexOf(places[k].share) : -1), k: 1 };
  });
  return { cut, springs };
}

/** The arm with what springs of motors do to its joints, the other springs, and by what the former make the determinant larger. */
function withMotors(arm, springs) {
  const links = arm.links.slice();
  let factor = 1;
  for (const { joint, k } of springs) {
    if (joint === undefined) continue;
    const [link, more] = stiffer(links[joint], k);
    links[joint] = link;
    factor *= more;
  }
  return [{ ...arm, links }, springs.filter(({ at }) => at !== undefined), factor];
}

/** Springs at ports that stand at the outer end of link `i`, added to the stiffness outboard of it. */
function addSprings(springs, i, high, low) {
  for (const { at, vector, k } of springs) {
    if (at !== i) continue;
    for (let row = 0, to = 0; row < vector.length; row++)
      for (let column = row; column < vector.length; column++, to++) {
        multiplyPairs(vector[row], 0, vector[column], 0);
        multiplyPairs(H, L, k, 0);
        addPairs(high[to], low[to], H, L);
        high[to] = H; low[to] = L;
      }
  }
}

/** By how much the joint of link `i` is stiffened, as a port; null for none. */
const motorOf = (springs, i) => springs.find(({ joint }) => joint === i)?.k ?? null;
