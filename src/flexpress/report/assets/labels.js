// Names of clients, where there is room for them.

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
  taken.push(around(app.view.toScreen(app.plan.server), 12));
  for (const stop of seen) writeLabel(pen, app, stop, taken);
}

const around = ([px, py], by) => [px - by, py - by, px + by, py + by];

function writeLabel(pen, app, { client, tour, at, away }, taken) {
  const name = shortened(app.plan.names[client]);
  const width = pen.measureText(name).width;
  for (const turn of [0, 1, -1, 2, -2, 3, -3, 4]) {
    const box = boxBeside(at, away + (turn * Math.PI) / 4, width);
    if (!inside(box, app.view) || taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    pen.globalAlpha = app.strength(tour);
    const middle = (box[1] + box[3]) / 2;
    pen.strokeText(name, box[0], middle);
    pen.fillText(name, box[0], middle);
    return;
  }
}

const shortened = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

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
