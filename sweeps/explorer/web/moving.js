// A mode that moves, over the arm at rest.

function drawMoving(svg, drawn) {
  const upright = svg.querySelector("g");
  const group = svgElement("g", { class: "moving" });
  const lines = drawn.x0.map(() => svgElement("polyline", {}));
  const joined = svgElement("polyline", { class: "joined" });
  group.append(joined, ...lines);
  upright.append(group);
  return (share) => {
    const rows = drawn.x0.map((row, i) =>
      Array.from(row, (x, p) => {
        const at = share * drawn.amplitude;
        return `${x + at * drawn.u[i][p]},${drawn.y0[i][p] + at * drawn.v[i][p]}`;
      }),
    );
    rows.forEach((points, i) => lines[i].setAttribute("points", points.join(" ")));
    joined.setAttribute("points", rows.flatMap((points) => [points[0], points.at(-1)]).join(" "));
  };
}
