// The arm in space at a cell of a sweep, at rest, in the picture that turns.

class CellPicture {
  constructor(arm) {
    this.arm = arm;
    this.picture = makePicture(arm, [], () => {});
    const frame = () => {
      this.picture.frame(0);
      requestAnimationFrame(frame);
    };
    frame();
  }

  draw({ at }) {
    const links = linksAt(this.arm, at);
    const values = { ...this.arm.own };
    for (const { axis, address, values: row } of this.arm.varied) values[address] = row[at[axis]] ?? undefined;
    this.picture.about = { ...this.arm, links };
    this.picture.draw({ places: placesOf(links), drawn: null }, (address, otherwise) => values[address] ?? otherwise);
  }
}

// The links as they are at a cell.
function linksAt(arm, at) {
  const links = structuredClone(arm.links);
  for (const { axis, link, path, values } of arm.changes) {
    const owner = path.slice(0, -1).reduce((found, name) => found[name], links[link]);
    owner[path.at(-1)] = values[at[axis]];
  }
  return links;
}

// Axes of the sections and ends of the elastic parts, one link after the other.
function placesOf(links) {
  let axes = [1, 0, 0, 0, 1, 0, 0, 0, 1], tip = [0, 0, 0];
  return links.map((link) => {
    const before = axes;
    axes = [0, 3, 6].flatMap((row) => [0, 1, 2].map((k) => before[row] * link.turn[k] + before[row + 1] * link.turn[3 + k] + before[row + 2] * link.turn[6 + k]));
    const inner = plus(tip, seenIn(axes, link.joint), -1), outer = plus(inner, column(axes, 0), link.length);
    tip = plus(outer, seenIn(axes, link.tip));
    return { axes, inner, outer };
  });
}

const makeArmView = (arm) => new CellPicture(arm);
