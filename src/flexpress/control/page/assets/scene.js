// What the map shows: the draft's sites, the tours of a plan, a second plan to compare.

const EMPTY_BOX = { west: 0, south: 0, east: 2000, north: 2000 };
const NOTHING = { server: null, clients: [], names: [], ids: [], blocks: [], zones: [], zone_names: [], transporters: [], transfer_time: 0 };

const scene = {
  plan: NOTHING,
  tours: [],
  other: [], // tours of the plan that is compared
  visits: [],
  view: new View(EMPTY_BOX, 3),
  time: 0,
  chosen: null,
  pointed: null,
  stale: false, // the draft has changed since the tours were made
  selected: null, // { node } or { zone }
  dragged: null, // { node, at }
  corners: [], // of the zone that is being drawn
  pointer: null, // pixel
  marked: [], // clients that nobody reaches
  overdrawn: [],
  dirty: new Set(),
  drones: { drones: [], star: null },
  timeOf: () => scene.time,

  strength(tour) {
    if (this.stale && tour.number) return 0.3;
    if (this.chosen) return tour === this.chosen ? 1 : 0.15;
    return !this.pointed || tour === this.pointed || !tour.number ? 1 : 0.3;
  },
  stressed(tour) {
    return tour === this.pointed || tour === this.chosen || this.overdrawn.includes(tour.number - 1);
  },
  backToFront() {
    return [...this.tours].sort((a, b) => this.stressed(a) - this.stressed(b));
  },

  // Sites and tours anew; `fit` shows all.
  show(sites, drawn, { stale = false, fit = false } = {}) {
    this.plan = { ...NOTHING, ...sites, transporters: drawn?.transporters ?? [], transfer_time: drawn?.transfer_time ?? 0 };
    this.stale = stale;
    const number = this.chosen?.number;
    this.tours = drawn ? toursOf(drawn) : [];
    if (stale || !drawn) {
      for (const tour of this.tours) [tour.clients, tour.arrivals] = [[], []];
      this.tours.unshift(unassigned(this.plan.clients));
    }
    this.chosen = this.tours.find((tour) => tour.number && tour.number === number) ?? null;
    this.pointed = null;
    this.visits = this.tours.flatMap(visitsOf);
    byId("drones").replaceChildren();
    this.drones = makeDrones(byId("drones"), this);
    this.frame(fit);
    this.colour();
  },

  frame(fit) {
    const box = this.plan.server || this.plan.clients.length || this.plan.zones.length ? boxOf(this.plan) : EMPTY_BOX;
    const side = Math.max(box.east - box.west, box.north - box.south);
    const room = side ? 0 : 500; // a single place
    this.view.box = { west: box.west - room, south: box.south - room, east: box.east + room, north: box.north + room };
    if (fit) this.view.fit();
    else this.view.fitted = false; // what is edited stays below the hand
  },

  colour() {
    readPageColours();
    for (const tour of [...this.tours, ...this.other]) tour.shade = tour.number ? tourColour(tour) : page.ink;
    colourDrones(this.drones);
    this.redraw();
  },

  redraw(...layers) {
    if (!this.dirty.size) requestAnimationFrame(() => this.draw());
    for (const layer of layers.length ? layers : ["tiles", "ground", "clients", "labels", "marks", "drones"]) this.dirty.add(layer);
  },
  draw() {
    const paint = { tiles: paintTiles, ground: paintAll, clients: paintClients, labels: paintLabels, marks: paintMarks };
    for (const [layer, painter] of Object.entries(paint))
      if (this.dirty.has(layer)) painter(blank(byId(layer), this.view), this);
    if (this.dirty.has("drones")) moveDrones(this.drones, this);
    if (this.dirty.has("ground")) showScale(this.view);
    this.dirty.clear();
    surface.dataset.frames = Number(surface.dataset.frames ?? 0) + 1;
  },
};

const toursOf = (plan) =>
  plan.transporters.map((tour, k) => ({ ...tour, clients: [...tour.clients], number: k + 1, legs: legsOf(tour, plan) }));

const unassigned = (clients) => ({ number: 0, clients: clients.map((_, i) => i), arrivals: [], legs: [], corners: [] });

function visitsOf(tour) {
  return tour.clients.map((client, visit) => {
    if (!tour.legs.length) return { client, tour, visit, away: 0 };
    const [before, after] = [tour.legs[visit].points.at(-2), tour.legs[visit + 1].points[1]];
    return { client, tour, visit, away: awayFrom(scene.plan.clients[client], before, after) };
  });
}

function paintAll(pen, app) {
  paintGround(pen, app);
  pen.globalAlpha = 0.9;
  pen.setLineDash([3, 5]);
  pen.lineWidth = 1.5;
  pen.strokeStyle = page.ink;
  pen.beginPath();
  for (const tour of app.other) for (const leg of tour.legs) trace(pen, leg.points, app.view);
  pen.stroke();
  pen.setLineDash([]);
}

// What is selected, dragged, drawn or out of reach; and the middle, for the keyboard.
function paintMarks(pen, { view, plan, selected, dragged, corners, marked }) {
  const ring = (point, radius, colour) => {
    pen.strokeStyle = colour;
    pen.lineWidth = 2.5;
    pen.beginPath();
    pen.arc(...view.toScreen(point), radius, 0, 2 * Math.PI);
    pen.stroke();
  };
  for (const i of marked) if (plan.clients[i]) ring(plan.clients[i], 10, page.zone);
  const place = dragged?.at ?? (selected?.node === 0 ? plan.server : plan.clients[selected?.node - 1]);
  if (place) ring(place, 13, page.ink);
  if (plan.zones[selected?.zone]) outline(pen, plan.zones[selected.zone], view, true);
  if (corners.length) outline(pen, scene.pointer ? [...corners, view.toPlane(scene.pointer)] : corners, view, false);
  if (document.activeElement === surface && tool !== "look") paintCross(pen, view);
}

function outline(pen, points, view, closed) {
  pen.beginPath();
  trace(pen, points, view);
  if (closed) pen.closePath();
  pen.strokeStyle = page.zone;
  pen.lineWidth = 3;
  pen.stroke();
}

function paintCross(pen, { width, height }) {
  pen.strokeStyle = page.ink;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const [dx, dy] of [[14, 0], [0, 14]]) {
    pen.moveTo(width / 2 - dx, height / 2 - dy);
    pen.lineTo(width / 2 + dx, height / 2 + dy);
  }
  pen.stroke();
}

function showScale(view) {
  const metres = niceBelow(130 / view.scale);
  byId("scale-text").textContent = lengthText(metres);
  byId("scale-bar").style.width = `${metres * view.scale}px`;
  Object.assign(surface.dataset, { scale: view.scale, x: view.x, y: view.y });
  if (!scene.pointer) byId("read-out").textContent = readOut([view.x, view.y]);
}

function look(change) {
  change(scene.view);
  scene.redraw();
}

// Latitude and longitude of a point, near enough for reading and for tiles: the server computes places.
function coordinatesAt([x, y]) {
  const [lat, lon] = topics.document.origin;
  const sine = Math.sin((lat * Math.PI) / 180);
  const bend = Math.sqrt(1 - 0.00669438 * sine * sine);
  const north = (6378137 * (1 - 0.00669438)) / bend ** 3;
  const east = (6378137 / bend) * Math.cos((lat * Math.PI) / 180);
  return [lat + ((y / north) * 180) / Math.PI, lon + ((x / east) * 180) / Math.PI];
}

function readOut(point) {
  const [x, y] = point;
  const metres = `x ${x.toFixed(1)} m, y ${y.toFixed(1)} m`;
  if (!topics.document?.origin) return metres;
  const [lat, lon] = coordinatesAt(point);
  return `${lat.toFixed(6)}°, ${lon.toFixed(6)}°  (${metres})`;
}
