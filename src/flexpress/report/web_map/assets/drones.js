// Server and drones: elements above the map, each drone with its number and a ring that fills.

const SVG = "http://www.w3.org/2000/svg";
const DRONE = 10; // radius, pixels
const RING = 14;
const ROUND = 2 * Math.PI * RING;

function shape(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

function starPath(radius) {
  const corners = Array.from({ length: 10 }, (_, c) => {
    const [r, angle] = [c % 2 ? 0.4 * radius : radius, (c * Math.PI) / 5];
    return `${(r * Math.sin(angle)).toFixed(2)} ${(-r * Math.cos(angle)).toFixed(2)}`;
  });
  return `M${corners.join("L")}Z`;
}

function makeDrones(svg, app) {
  const drones = app.tours.filter((tour) => tour.legs.length).map((tour) => makeDrone(svg, tour));
  const star = shape("path", { d: starPath(12), id: "server", "stroke-width": 1.5 }, svg);
  return { drones, star };
}

function makeDrone(svg, tour) {
  const group = shape("g", { "data-transporter": tour.number }, svg);
  const body = shape("circle", { r: DRONE, "stroke-width": 1.5 }, group);
  const size = String(tour.number).length > 2 ? 8.5 : 11;
  const text = shape("text", { y: 0.36 * size, "font-size": size }, group);
  text.textContent = tour.number;
  const ring = shape("circle", { r: RING, fill: "none", "stroke-width": 3, transform: "rotate(-90)" }, group);
  return { tour, group, body, text, ring };
}

function colourDrones({ drones, star }) {
  for (const { tour, body, text, ring } of drones) {
    body.setAttribute("fill", tour.shade);
    body.setAttribute("stroke", page.paper);
    text.setAttribute("fill", inkOn(tour.shade));
    ring.setAttribute("stroke", tour.shade);
  }
  star.setAttribute("fill", page.ink);
  star.setAttribute("stroke", page.paper);
}

function moveDrones({ drones, star }, app) {
  for (const { tour, group, ring } of drones) {
    const { state, place, hovered } = droneAt(tour.legs, app.timeOf(tour));
    const [px, py] = app.view.toScreen(place);
    Object.assign(group.dataset, { x: place[0], y: place[1], state });
    group.setAttribute("transform", `translate(${px.toFixed(2)} ${py.toFixed(2)})`);
    group.setAttribute("opacity", app.strength(tour));
    const part = state === "hovering" ? hovered : 0;
    ring.setAttribute("visibility", state === "hovering" ? "visible" : "hidden");
    ring.setAttribute("stroke-dasharray", `${part * ROUND} ${ROUND}`);
  }
  star.setAttribute("visibility", app.plan.server ? "visible" : "hidden");
  if (!app.plan.server) return;
  const [px, py] = app.view.toScreen(app.plan.server);
  star.setAttribute("transform", `translate(${px.toFixed(2)} ${py.toFixed(2)})`);
}
