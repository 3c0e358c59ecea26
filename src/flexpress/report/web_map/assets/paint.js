// The map on its canvases: the ground with the tours, and the clients with what is flown so far.

const CROWD = 300; // clients from which lines are thinner

// The canvas at the size of the view and the resolution of the screen, empty.
function blank(canvas, view) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  pen.globalAlpha = 1;
  pen.lineJoin = pen.lineCap = "round";
  return pen;
}

function paintGround(pen, app) {
  paintGrid(pen, app.view);
  paintBlocks(pen, app);
  paintZones(pen, app);
  for (const tour of app.backToFront()) paintTour(pen, app, tour);
}

function paintGrid(pen, view) {
  const step = niceBelow(110 / view.scale);
  const [west, north] = [view.x - view.width / 2 / view.scale, view.y + view.height / 2 / view.scale];
  pen.beginPath();
  for (let x = Math.ceil(west / step) * step; (x - west) * view.scale < view.width; x += step) {
    const px = Math.round((x - west) * view.scale) + 0.5;
    pen.moveTo(px, 0);
    pen.lineTo(px, view.height);
  }
  for (let y = Math.floor(north / step) * step; (north - y) * view.scale < view.height; y -= step) {
    const py = Math.round((north - y) * view.scale) + 0.5;
    pen.moveTo(0, py);
    pen.lineTo(view.width, py);
  }
  pen.strokeStyle = page.grid;
  pen.lineWidth = 1;
  pen.stroke();
}

function paintBlocks(pen, { plan, view }) {
  pen.strokeStyle = page.block;
  pen.lineWidth = 1;
  for (const [west, south, east, north] of plan.blocks) {
    const [left, top] = view.toScreen([west, north]);
    pen.strokeRect(left, top, (east - west) * view.scale, (north - south) * view.scale);
  }
}

function paintZones(pen, { plan, view }) {
  for (const zone of plan.zones) {
    pen.beginPath();
    trace(pen, zone, view);
    pen.closePath();
    pen.globalAlpha = 0.07;
    pen.fillStyle = page.zone;
    pen.fill();
    pen.globalAlpha = 0.55;
    pen.fillStyle = hatching(pen, view.toScreen(zone[0]));
    pen.fill();
    pen.strokeStyle = page.zone;
    pen.lineWidth = 1.2;
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

// Diagonal lines that move with the map.
function hatching(pen, [px, py]) {
  const [tile, ratio] = [document.createElement("canvas"), 2];
  tile.width = tile.height = 9 * ratio;
  const brush = tile.getContext("2d");
  brush.scale(ratio, ratio);
  brush.strokeStyle = page.zone;
  brush.lineWidth = 1;
  brush.beginPath();
  for (const at of [-9, 0, 9]) {
    brush.moveTo(at - 1, 10);
    brush.lineTo(at + 10, -1);
  }
  brush.stroke();
  const pattern = pen.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix([1 / ratio, 0, 0, 1 / ratio, px, py]));
  return pattern;
}

function trace(pen, points, view) {
  points.forEach((point, p) => {
    const [px, py] = view.toScreen(point);
    if (p) pen.lineTo(px, py);
    else pen.moveTo(px, py);
  });
}

const lineWidth = ({ plan }) => (plan.clients.length < CROWD ? 2 : 1.3);

function paintTour(pen, app, tour) {
  pen.globalAlpha = app.strength(tour);
  pen.strokeStyle = tour.shade;
  pen.lineWidth = lineWidth(app) + (app.stressed(tour) ? 1 : 0);
  pen.beginPath();
  for (const leg of tour.legs) trace(pen, leg.points, app.view);
  pen.stroke();
  if (app.tours.length <= 40) paintArrows(pen, app.view, tour);
}

// On the way out and on the way home: enough to show the direction of the tour.
function paintArrows(pen, view, tour) {
  const { legs } = tour;
  const ways = legs.length ? [legs[0].points.slice(0, 2), legs[legs.length - 1].points.slice(-2)] : [];
  pen.fillStyle = tour.shade;
  for (const way of ways) {
    const [[ax, ay], [bx, by]] = way.map((point) => view.toScreen(point));
    const length = Math.hypot(bx - ax, by - ay);
    if (length < 30) continue;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const [x, y] = [ax + 0.55 * (bx - ax), ay + 0.55 * (by - ay)];
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(x - 10 * ux + 4.5 * uy, y - 10 * uy - 4.5 * ux);
    pen.lineTo(x - 10 * ux - 4.5 * uy, y - 10 * uy + 4.5 * ux);
    pen.fill();
  }
}

function paintClients(pen, app) {
  const radius = clientRadius(app);
  for (const tour of app.backToFront()) {
    pen.globalAlpha = app.strength(tour);
    const time = app.timeOf(tour);
    if (time > 0) paintFlown(pen, app, tour, time);
    const done = visitsDone(tour, app.plan, time);
    paintDots(pen, app, tour, tour.clients.slice(done), radius, false);
    paintDots(pen, app, tour, tour.clients.slice(0, done), radius, true);
  }
}

function paintFlown(pen, app, tour, time) {
  if (!tour.legs.length) return;
  const { leg, passed, place } = droneAt(tour.legs, time);
  const points = tour.legs.slice(0, leg).flatMap((l) => l.points);
  points.push(...tour.legs[leg].points.slice(0, passed), place);
  pen.strokeStyle = tour.shade;
  pen.lineWidth = 2.2 * lineWidth(app);
  pen.beginPath();
  trace(pen, points, app.view);
  pen.stroke();
}

// Smaller where many are close together.
function clientRadius({ plan, view }) {
  const { east, west, north, south } = view.box;
  const spacing = view.scale * Math.sqrt(((east - west) * (north - south)) / plan.clients.length);
  return spacing ? within(1.2, 0.12 * spacing, 5) : 5;
}

// A ring while the client waits, full once it has its model; small dots change their colour.
function paintDots(pen, { plan, view }, tour, clients, radius, done) {
  const large = radius > 2.4;
  pen.beginPath();
  for (const i of clients) {
    const [px, py] = view.toScreen(plan.clients[i]);
    if (!view.sees([px, py])) continue;
    pen.moveTo(px + radius, py);
    pen.arc(px, py, radius, 0, 2 * Math.PI);
  }
  pen.fillStyle = done ? tour.shade : large ? page.paper : page.ink;
  pen.strokeStyle = done ? page.paper : tour.shade;
  pen.lineWidth = done ? 1 : 2;
  if (large) {
    const alpha = pen.globalAlpha;
    if (!done) pen.globalAlpha = 1;
    pen.fill();
    pen.globalAlpha = alpha;
    pen.stroke();
  } else pen.fill();
}
