// What the page knows: the plan, the view, the time, and which tour is chosen or pointed at.

const plan = JSON.parse(byId("data").textContent);
const surface = byId("surface");

const app = {
  plan,
  tours: plan.transporters.map((tour, k) => ({ ...tour, number: k + 1, legs: legsOf(tour, plan) })),
  view: new View(boxOf(plan)),
  time: 0,
  chosen: null, // the tour that is shown alone
  pointed: null, // the tour below the pointer
  shown: null, // the thing that the note tells about
  marked: 0, // visits of the chosen tour that are shown as done
  dirty: new Set(),

  // Seconds since its take-off: all leave together.
  timeOf(tour) {
    return this.time;
  },
  // How much a tour stands out, 0 to 1.
  strength(tour) {
    if (this.chosen) return tour === this.chosen ? 1 : tour === this.pointed ? 0.6 : 0.15;
    return !this.pointed || tour === this.pointed ? 1 : 0.3;
  },
  stressed(tour) {
    return tour === this.pointed || tour === this.chosen;
  },
  backToFront() {
    return [...this.tours].sort((a, b) => this.stressed(a) - this.stressed(b));
  },

  choose(tour) {
    this.chosen = tour;
    markChosen(this);
    listVisits(this);
    markVisits(this);
    this.redraw();
  },
  point(tour) {
    if (tour === this.pointed) return;
    this.pointed = tour;
    this.redraw();
  },
  show(thing, at) {
    this.shown = { thing, at };
    this.point(thing.tour ?? null);
    this.placeTip();
  },
  // Show a client, wherever it is.
  reveal(thing) {
    const place = plan.clients[thing.client];
    if (!this.view.sees(this.view.toScreen(place), 0)) look((view) => view.moveTo(...place));
    this.show(thing);
  },
  hide() {
    this.shown = null;
    this.point(null);
    byId("tip").hidden = true;
  },
  placeTip() {
    if (!this.shown) return;
    const { thing, at } = this.shown;
    const client = plan.clients[thing.client ?? farEnd(thing.tour)];
    const place = thing.drone ? droneAt(thing.tour.legs, this.time).place : client;
    if (at || place) showTip(byId("tip"), this, thing, at ?? this.view.toScreen(place));
  },

  redraw(...layers) {
    if (!this.dirty.size) requestAnimationFrame(() => this.draw());
    for (const layer of layers.length ? layers : ["ground", "clients", "labels", "drones"]) this.dirty.add(layer);
  },
  draw() {
    const paint = { ground: paintGround, clients: paintClients, labels: paintLabels };
    for (const [layer, painter] of Object.entries(paint))
      if (this.dirty.has(layer)) painter(blank(byId(layer), this.view), this);
    if (this.dirty.has("drones")) moveDrones(this.drones, this);
    if (this.dirty.has("ground")) showScale(this.view);
    this.dirty.clear();
  },
};

// The client of a tour that is farthest from the server.
function farEnd(tour) {
  const distance = (client) => Math.hypot(...plan.clients[client].map((value, axis) => value - plan.server[axis]));
  return tour?.clients.reduce((far, client) => (distance(client) > distance(far) ? client : far), tour.clients[0]);
}

// Every visit, and in which direction its name would be out of the way.
app.visits = app.tours.flatMap((tour) =>
  tour.clients.map((client, visit) => {
    const [before, after] = [tour.legs[visit].points.at(-2), tour.legs[visit + 1].points[1]];
    return { client, tour, visit, away: awayFrom(plan.clients[client], before, after) };
  }),
);

function showScale(view) {
  const metres = niceBelow(130 / view.scale);
  byId("scale-text").textContent = lengthText(metres);
  byId("scale-bar").style.width = `${metres * view.scale}px`;
  Object.assign(surface.dataset, { scale: view.scale, x: view.x, y: view.y });
}

// Change the view, and show it.
function look(change) {
  change(app.view);
  app.redraw();
  app.placeTip();
}
