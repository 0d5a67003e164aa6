// Ports as the library names them, tip_3.y, link_2@0.5.across, joint_2.torque, tip_6.(1,0,2), and what chooses one.

const PORT = /^(tip|link|joint)_([1-9][0-9]*)(?:@([0-9.]+))?\.(.+)$/, OTHER = "components";

/** The port of a name, as the solver takes it; null where it is none of this arm. */
function portNamed(name, { links, motors, directions, size }) {
  const [, place, number, station, way] = PORT.exec(name ?? "") ?? [], link = Number(number) - 1, turns = /^r|_r|turn|torque/.test(way);
  if (!(link >= 0 && link < links)) return null;
  if (place === "joint") return station === undefined && way === "torque" && motors.includes(link) ? { name, turns, port: { link, direction: "torque" } } : null;
  const at = place === "tip" ? {} : { station: Number(station) };
  if (place === "tip" ? station !== undefined : !(at.station > 0 && at.station < 1)) return null;
  const given = way.startsWith("(") && way.endsWith(")") ? way.slice(1, -1).split(",").map(Number) : null;
  if (given ? given.length !== size || given.includes(NaN) || !given.some((x) => x !== 0) : !directions.includes(way)) return null;
  return { name, turns, port: { link, ...at, direction: given ?? way } };
}

class PortChoice {
  constructor(id, about, chosen) {
    Object.assign(this, { about, name: "" });
    const { links, motors, directions } = about, numbers = Array.from({ length: links }, (_, k) => k + 1), word = byId(id).getAttribute("aria-label");
    const option = (text, value) => element("option", text, { value });
    this.place = element("select", "", { "aria-label": `${word}: place` });
    this.place.append(...numbers.map((k) => option(`tip of link ${k}`, `tip_${k}`)), ...numbers.map((k) => option(`along link ${k}`, `link_${k}`)), ...motors.map((k) => option(`motor of joint ${k + 1}`, `joint_${k + 1}`)));
    this.station = element("input", "", { type: "number", min: 0.01, max: 0.99, step: "any", value: 0.5, "aria-label": `${word}: share of the length of the link` });
    this.way = element("select", "", { "aria-label": `${word}: direction` });
    this.way.append(...directions.map((name) => option(name.replace("_", " "), name)), option("any", OTHER));
    this.parts = element("input", "", { placeholder: about.size === 3 ? "1, 0, 2" : "1, 2", "aria-label": `${word}: components of the direction in the axes of the ground` });
    for (const made of [this.place, this.station, this.way, this.parts]) {
      byId(id).append(made);
      made.addEventListener("change", () => {
        this.fit();
        chosen();
      });
    }
    byId(id).classList.add("port");
  }

  // What of the controls a place needs.
  fit() {
    const kind = this.place.value.split("_")[0];
    this.station.hidden = kind !== "link";
    this.way.hidden = kind === "joint";
    this.parts.hidden = this.way.hidden || this.way.value !== OTHER;
  }

  // The port that is chosen; null where it is none, as of components that are all 0.
  get port() {
    const { place, station, way, parts } = this, direction = way.value === OTHER ? `(${parts.value.replaceAll(" ", "")})` : way.value;
    const name = place.value.startsWith("joint") ? `${place.value}.torque` : `${place.value}${station.hidden ? "" : `@${station.value}`}.${direction}`;
    return portNamed(name, this.about);
  }

  // Whether it is a port of this arm, which is then chosen.
  choose(name) {
    if (!portNamed(name, this.about)) return false;
    const [, place, number, station, way] = PORT.exec(name);
    this.place.value = `${place}_${number}`;
    if (station !== undefined) this.station.value = Number(station);
    if (place !== "joint") {
      this.way.value = way.startsWith("(") ? OTHER : way;
      this.parts.value = way.startsWith("(") ? way.slice(1, -1) : "";
    }
    this.fit();
    return true;
  }
}
