// Curves in an SVG: axes with a few numbers, one line per series.

const EDGE = { left: 58, right: 10, top: 8, bottom: 20 };

// Each series has points [x, y] and a colour; `texts` are functions that write x and y.
function drawChart(svg, series, { x, y, label }) {
  const points = series.flatMap((each) => each.points);
  svg.toggleAttribute("hidden", points.length < 1);
  svg.setAttribute("aria-label", label);
  if (!points.length) return;
  const [width, height] = [svg.clientWidth || 400, svg.clientHeight || 110];
  const [xs, ys] = [0, 1].map((axis) => rangeOf(points.map((point) => point[axis])));
  const px = (value) => EDGE.left + ((value - xs[0]) / (xs[1] - xs[0])) * (width - EDGE.left - EDGE.right);
  const py = (value) => height - EDGE.bottom - ((value - ys[0]) / (ys[1] - ys[0])) * (height - EDGE.top - EDGE.bottom);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  for (const value of ys) {
    shape("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: py(value), y2: py(value) }, svg);
    shape("text", { x: EDGE.left - 6, y: py(value) + 4, "text-anchor": "end" }, svg).textContent = y(value);
  }
  xs.forEach((value, end) => {
    const text = { x: px(value), y: height - 5, "text-anchor": end ? "end" : "start" };
    shape("text", text, svg).textContent = x(value);
  });
  for (const { points: line, colour, dash } of series) {
    const at = line.map((point) => `${px(point[0]).toFixed(1)},${py(point[1]).toFixed(1)}`).join(" ");
    shape("polyline", { points: at, stroke: colour, "stroke-dasharray": dash ?? "none" }, svg);
  }
}

function rangeOf(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return most > least ? [least, most] : [least, least + Math.abs(least || 1) * 0.1];
}
