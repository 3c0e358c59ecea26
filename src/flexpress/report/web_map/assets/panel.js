// Beside the map: facts of the plan, a row per transporter, the visits of the chosen one, the key.

function fillHeader(plan) {
  byId("name").textContent = shortened(plan.name, 120);
  byId("facts").append(...plan.facts.map((fact) => element("div", "", ...pairs([fact]))));
}

function fillTable(app) {
  byId("columns").append(...app.plan.columns.map(([name, unit]) => {
    const cell = element("th", name === "transporter" ? "" : name);
    cell.scope = "col";
    if (name === "transporter") cell.setAttribute("aria-label", name);
    cell.append(element("small", unit || "\u00a0"));
    return cell;
  }));
  byId("rows").append(...app.tours.map((tour) => makeRow(app, tour)));
}

function makeRow(app, tour) {
  const [number, ...cells] = tour.cells;
  const button = element("button", "", swatch(tour), number);
  button.setAttribute("aria-label", `Transporter ${number}: show its tour alone`);
  const head = element("th", "", button);
  head.scope = "row";
  tour.row = element("tr", "", head, ...cells.map((text) => element("td", text)));
  tour.row.dataset.transporter = number;
  tour.row.classList.toggle("idle", !tour.clients.length);
  tour.row.addEventListener("click", () => app.choose(app.chosen === tour ? null : tour));
  for (const type of ["pointerenter", "focusin"]) tour.row.addEventListener(type, () => app.show({ tour }));
  for (const type of ["pointerleave", "focusout"]) tour.row.addEventListener(type, () => app.hide());
  return tour.row;
}

function colourTable(app) {
  for (const tour of app.tours) tour.row.querySelector(".swatch").style.background = tour.shade;
  byId("visits-list").style.setProperty("--tour", app.chosen?.shade ?? "");
}

function markChosen(app) {
  for (const tour of app.tours) {
    tour.row.classList.toggle("chosen", tour === app.chosen);
    tour.row.querySelector("button").setAttribute("aria-pressed", tour === app.chosen);
  }
}

function listVisits(app) {
  const { chosen } = app;
  const title = byId("visits-title");
  app.marked = 0;
  title.textContent = chosen
    ? `Visits of transporter ${chosen.number}${chosen.clients.length ? "" : ": none, it stays on the ground"}`
    : "Choose a transporter to see it alone, with its visits.";
  title.classList.toggle("hint", !chosen);
  byId("visits-list").style.setProperty("--tour", chosen?.shade ?? "");
  byId("visits-list").replaceChildren(...(chosen?.clients ?? []).map((client, visit) => makeVisit(app, client, visit)));
}

function makeVisit(app, client, visit) {
  const [name, when] = [nameOf(app.plan, client), clockText(app.chosen.arrivals[visit])];
  const button = element("button", "", element("i"), element("span", name), when);
  button.setAttribute("aria-label", `${name}, arrival ${when}`);
  const thing = { client, visit, tour: app.chosen };
  for (const type of ["pointerenter", "focus", "click"]) button.addEventListener(type, () => app.reveal(thing));
  for (const type of ["pointerleave", "blur"]) button.addEventListener(type, () => app.hide());
  return element("li", "", button);
}

function markVisits(app) {
  if (!app.chosen) return;
  const done = visitsDone(app.chosen, app.plan, app.time);
  if (done === app.marked) return;
  app.marked = done;
  [...byId("visits-list").children].forEach((item, visit) => item.classList.toggle("done", visit < done));
}

function fillKey(app) {
  const { plan } = app;
  const entry = (name, ...shapes) => {
    const svg = shape("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    for (const [kind, attributes] of shapes) shape(kind, attributes, svg);
    return element("li", "", svg, name);
  };
  const ring = { r: 4.5, fill: "none", stroke: "currentColor", "stroke-width": 2 };
  const zone = { d: "M-7 -6H7V6H-7ZM-7 2L1 -6M-4 6L7 -5M3 6L7 2", fill: "none", stroke: "var(--zone)" };
  byId("key").append(
    entry("server", ["path", { d: starPath(8), fill: "currentColor" }]),
    entry("client", ["circle", ring]),
    entry("has its model", ["circle", { ...ring, fill: "currentColor" }]),
    ...(plan.zones.length ? [entry("no-fly zone", ["path", zone])] : []),
  );
}
