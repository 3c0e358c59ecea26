// Names of zones and clients, where there is room for them.

const MOST_LABELS = 400; // clients in view: more would be a carpet of names
const LABEL_HEIGHT = 13;

function paintLabels(pen, app) {
  const places = app.visits.map(({ client }) => app.view.toScreen(app.plan.clients[client]));
  const seen = app.visits.flatMap((visit, v) => (app.view.sees(places[v], 0) ? [{ ...visit, at: places[v] }] : []));
  if (seen.length > MOST_LABELS) return;
  pen.font = "11.5px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.lineWidth = 3;
  pen.strokeStyle = page.paper;
  pen.fillStyle = page.ink;
  const taken = seen.map(({ at }) => around(at, 6));
  if (app.plan.server) taken.push(around(app.view.toScreen(app.plan.server), 12));
  writeZones(pen, app, taken);
  const lines = linesInView(app);
  for (const stop of seen) writeLabel(pen, app, stop, taken, lines);
}

// In the middle of each zone.
function writeZones(pen, { plan, view }, taken) {
  pen.fillStyle = page.zone;
  plan.zones.forEach((zone, z) => {
    const [name, corners] = [shortened(plan.zone_names[z]), zone.map((corner) => view.toScreen(corner))];
    if (!name) return;
    const [px, py] = [0, 1].map((axis) => {
      const values = corners.map((corner) => corner[axis]);
      return (Math.min(...values) + Math.max(...values)) / 2;
    });
    const half = pen.measureText(name).width / 2;
    const box = [px - half, py - LABEL_HEIGHT / 2, px + half, py + LABEL_HEIGHT / 2];
    if (inside(box, view) && !taken.some((other) => overlap(box, other))) write(pen, name, box, taken);
  });
  pen.fillStyle = page.ink;
}

function write(pen, text, box, taken) {
  taken.push(box);
  const middle = (box[1] + box[3]) / 2;
  pen.strokeText(text, box[0], middle);
  pen.fillText(text, box[0], middle);
}

// Both ends of every line of the tours, as pixels.
function linesInView({ tours, view }) {
  const points = tours.flatMap(({ legs }) => legs.map((leg) => leg.points.map((point) => view.toScreen(point))));
  return points.flatMap((leg) => leg.slice(1).map((end, p) => [leg[p], end]));
}

const around = ([px, py], by) => [px - by, py - by, px + by, py + by];

// Where it covers the fewest lines, and then nearest to the best direction.
function writeLabel(pen, app, { client, tour, at, away }, taken, lines) {
  const name = shortened(app.plan.names[client]);
  const width = pen.measureText(name).width;
  const boxes = [0, 1, -1, 2, -2, 3, -3, 4].map((turn) => boxBeside(at, away + (turn * Math.PI) / 4, width));
  const free = boxes.filter((box) => inside(box, app.view) && !taken.some((other) => overlap(box, other)));
  if (!free.length) return;
  const covered = free.map((box) => lines.filter((line) => crosses(line, box)).length);
  pen.globalAlpha = app.strength(tour);
  write(pen, name, free[covered.indexOf(Math.min(...covered))], taken);
}

function shortened(name, most = 24) {
  const signs = [...name];
  return signs.length > most ? `${signs.slice(0, most - 1).join("").trimEnd()}…` : name;
}

// Whether a line passes through a box (Liang and Barsky, 1984).
function crosses([[ax, ay], [bx, by]], [left, top, right, bottom]) {
  let [first, last] = [0, 1];
  for (const [from, way, low, high] of [[ax, bx - ax, left, right], [ay, by - ay, top, bottom]]) {
    if (!way && (from < low || from > high)) return false;
    if (!way) continue;
    const [one, other] = [(low - from) / way, (high - from) / way];
    [first, last] = [Math.max(first, Math.min(one, other)), Math.min(last, Math.max(one, other))];
  }
  return first < last;
}

// The box of a text beside a place, in the direction of an angle (0 is east, a quarter north).
function boxBeside([px, py], angle, width) {
  const [dx, dy] = [Math.cos(angle), -Math.sin(angle)];
  const [x, y] = [px + 8 * dx + (dx * width) / 2, py + 8 * dy + (dy * LABEL_HEIGHT) / 2];
  return [x - width / 2, y - LABEL_HEIGHT / 2, x + width / 2, y + LABEL_HEIGHT / 2];
}

const inside = ([left, top, right, bottom], { width, height }) => left > 2 && top > 2 && right < width - 2 && bottom < height - 2;

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

// The direction that leaves the lines to both neighbours behind.
function awayFrom(here, before, after) {
  const [b, a] = [before, after].map(([x, y]) => {
    const length = Math.hypot(x - here[0], y - here[1]) || 1;
    return [(x - here[0]) / length, (y - here[1]) / length];
  });
  const [dx, dy] = [b[0] + a[0], b[1] + a[1]];
  return Math.hypot(dx, dy) < 0.2 ? Math.atan2(a[0], -a[1]) : Math.atan2(-dy, -dx);
}
