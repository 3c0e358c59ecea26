// What is below the pointer, and the note that tells about it.

const byId = (id) => document.getElementById(id);

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

const pairs = (facts) => facts.flatMap(([name, text]) => [element("dt", name), element("dd", text)]);

function swatch(tour) {
  const made = element("i");
  made.className = "swatch";
  made.style.background = tour.shade;
  return made;
}

// A drone before a client before the server before a line before a zone; null on empty ground.
function thingAt(app, [px, py], reach) {
  const distance = (point) => {
    const [x, y] = app.view.toScreen(point);
    return Math.hypot(x - px, y - py);
  };
  const flying = app.drones.drones.map(({ tour }) => ({ tour, drone: true, place: droneAt(tour.legs, app.timeOf(tour)) }));
  const out = flying.filter(({ place }) => place.state === "flying" || place.state === "hovering");
  return (
    nearest(out, ({ place }) => distance(place.place), reach + 8) ??
    nearest(app.visits, ({ client }) => distance(app.plan.clients[client]), reach + 4) ??
    (app.plan.server && distance(app.plan.server) < reach + 8 ? { server: true } : null) ??
    nearest(app.tours.map((tour) => ({ tour })), ({ tour }) => distanceToTour(app.view, tour, px, py), reach) ??
    zoneAt(app, [px, py])
  );
}

// The zone that the pixel lies in: lines to the right of it cross its edge an odd number of times.
function zoneAt({ plan, view }, [px, py]) {
  const zone = plan.zones.findIndex((ring) => {
    const corners = ring.map((corner) => view.toScreen(corner));
    return corners.reduce((within, [bx, by], c) => {
      const [ax, ay] = corners.at(c - 1);
      return ay > py !== by > py && px < ax + ((py - ay) * (bx - ax)) / (by - ay) ? !within : within;
    }, false);
  });
  return zone < 0 ? null : { zone };
}

function nearest(things, distance, limit) {
  let best = null;
  for (const thing of things) {
    const far = distance(thing);
    if (far < limit) [best, limit] = [thing, far];
  }
  return best;
}

function distanceToTour(view, tour, px, py) {
  let least = Infinity;
  for (const { points } of tour.legs) {
    let [ax, ay] = view.toScreen(points[0]);
    for (let p = 1; p < points.length; p++) {
      const [bx, by] = view.toScreen(points[p]);
      const [dx, dy] = [bx - ax, by - ay];
      const share = within(0, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1), 1);
      least = Math.min(least, Math.hypot(ax + share * dx - px, ay + share * dy - py));
      [ax, ay] = [bx, by];
    }
  }
  return least;
}

function nameOf(plan, client) {
  const [name, id] = [plan.names[client], plan.ids[client]].map((text) => text && shortened(text, 80));
  return id && id !== name ? `${name} (${id})` : name;
}

// A bare number would be taken for a transporter's.
const asClient = (name, noun = "client") => (/^\d+$/.test(name) ? `${noun} ${name}` : name);

const arrivalText = (seconds) => `${clockText(seconds)} (${seconds.toFixed(1)} s)`;

function doing(plan, tour, { state, leg, hovered }) {
  if (leg === tour.clients.length) return "flies home";
  const client = asClient(nameOf(plan, tour.clients[leg]));
  return state === "hovering" ? `hovers at ${client}, ${Math.floor(100 * hovered)} %` : `flies to ${client}`;
}

// Heading and facts of a thing.
function tipOf(app, thing) {
  const { plan } = app;
  if (thing.server) {
    const counts = { transporters: app.tours, clients: plan.clients };
    return ["Server", Object.entries(counts).map(([name, { length }]) => [name, length.toLocaleString("en")])];
  }
  if (thing.zone !== undefined) {
    const name = plan.zone_names[thing.zone];
    return [shortened(name || `No-fly zone ${thing.zone + 1}`, 80), name ? [["no-fly zone", String(thing.zone + 1)]] : []];
  }
  const { tour, client } = thing;
  if (client !== undefined && !tour.facts) return [asClient(nameOf(plan, client), "Client"), []];
  const title = `Transporter ${tour.number}`;
  if (client !== undefined) {
    const place = `${thing.visit + 1} of ${tour.clients.length}, transporter ${tour.number}`;
    const arrival = arrivalText(tour.arrivals[thing.visit]);
    return [asClient(nameOf(plan, client), "Client"), [["arrival", arrival], ["visit", place], ...tour.facts.slice(0, 2)]];
  }
  const now = thing.drone ? [["now", doing(plan, tour, droneAt(tour.legs, app.timeOf(tour)))]] : [];
  return [title, [...now, ["clients", String(tour.clients.length)], ...tour.facts]];
}

// Write the note beside the pixel, inside the map.
function showTip(tip, app, thing, [px, py]) {
  const [title, facts] = tipOf(app, thing);
  const heading = element("h3", "", ...(thing.tour ? [swatch(thing.tour)] : []), title);
  tip.replaceChildren(heading, element("dl", "", ...pairs(facts)));
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = px + 16 + width > app.view.width ? px - 16 - width : px + 16;
  const top = py + 16 + height > app.view.height ? py - 16 - height : py + 16;
  const x = within(4, left, Math.max(app.view.width - width - 4, 4));
  const y = within(4, top, Math.max(app.view.height - height - 4, 4));
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}
