// Hands on the map: tools that place and draw, drag, keys; files that are dropped or pasted.

let tool = "look";
const fingers = new Map(); // pointers that are down, by id
let moved = 0; // pixels since the first came down
let grabbed = null; // the node that is dragged

const HINTS = {
  look: "",
  server: "Click where the server is.",
  sensor: "Click where sensors are.",
  zone: "Click the corners of the zone; double click, or press Enter, to close it.",
};

const editable = () => !byId("plan-panel").hidden;

function useTool(name) {
  tool = name;
  scene.corners = [];
  surface.classList.toggle("tool", name !== "look");
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", button.dataset.tool === name);
  showHint();
  scene.redraw("marks");
}

function showHint() {
  const { server, clients } = scene.plan;
  const begin = editable() && !server && !clients.length ? "An empty map: choose Server and click where it is, then Sensor." : "";
  byId("map-hint").textContent = HINTS[tool] || begin;
}

function choose(thing) {
  scene.selected = thing;
  byId("delete").disabled = !thing;
  scene.redraw("marks");
}

function deleteSelected() {
  const { selected } = scene;
  if (!selected) return;
  if (selected.zone !== undefined) send({ do: "deletezone", number: selected.zone });
  else send({ do: "delete", nodes: [selected.node] });
  choose(null);
}

// Use the tool at a pixel.
function act(at) {
  const point = scene.view.toPlane(at);
  if (tool === "server") {
    send({ do: "move", node: 0, at: point });
    useTool("sensor");
  } else if (tool === "sensor") send({ do: "add", at: point });
  else if (tool === "zone") addCorner(point, at);
}

function addCorner(point, at) {
  const [first] = scene.corners;
  if (first && scene.corners.length > 2) {
    const [x, y] = scene.view.toScreen(first);
    if (Math.hypot(x - at[0], y - at[1]) < 10) return closeZone();
  }
  scene.corners.push(point);
  scene.redraw("marks");
}

function closeZone() {
  const corners = scene.corners.filter((corner, c, all) => !c || Math.hypot(corner[0] - all[c - 1][0], corner[1] - all[c - 1][1]) * scene.view.scale > 3);
  if (corners.length > 2) send({ do: "zone", corners });
  useTool("look");
}

const pixelOf = (event) => {
  const { left, top } = surface.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
};

// The node or zone below a pixel, as something to select.
function siteAt(at, reach) {
  const thing = thingAt(scene, at, reach);
  if (!thing) return null;
  if (thing.server) return { node: 0 };
  if (thing.client !== undefined) return { node: thing.client + 1 };
  return thing.zone !== undefined ? { zone: thing.zone } : { tour: thing.tour };
}

function pointerDown(event) {
  if (event.button) return;
  const at = pixelOf(event);
  if (!fingers.size) [moved, grabbed] = [0, null];
  fingers.set(event.pointerId, at);
  surface.setPointerCapture(event.pointerId);
  if (tool !== "look" || !editable() || fingers.size > 1) return;
  const site = siteAt(at, event.pointerType === "touch" ? 14 : 6);
  if (site?.node !== undefined) grabbed = site.node;
}

function pointerMove(event) {
  const at = pixelOf(event);
  scene.pointer = at;
  byId("read-out").textContent = readOut(scene.view.toPlane(at));
  if (!fingers.has(event.pointerId)) return hover(event, at);
  const before = fingers.get(event.pointerId);
  moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
  if (moved < 4) return;
  fingers.set(event.pointerId, at);
  byId("tip").hidden = true;
  if (grabbed !== null) {
    scene.dragged = { node: grabbed, at: scene.view.toPlane(at) };
    scene.redraw("marks");
    return;
  }
  const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
  look((view) => {
    if (!other) return view.pan(at[0] - before[0], at[1] - before[1]);
    const apart = (point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
    view.zoom(apart(at) / apart(before), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    view.pan((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
  });
}

function hover(event, at) {
  if (tool === "zone") scene.redraw("marks");
  const thing = tool === "look" ? thingAt(scene, at, 6) : null;
  const tour = thing?.tour?.number ? thing.tour : null;
  if (tour !== scene.pointed) {
    scene.pointed = tour;
    scene.redraw("ground", "clients", "drones");
  }
  surface.classList.toggle("pointing", Boolean(thing));
  if (thing) showTip(byId("tip"), scene, thing, at);
  else byId("tip").hidden = true;
}

function pointerUp(event) {
  const at = fingers.get(event.pointerId);
  if (!at) return;
  fingers.delete(event.pointerId);
  const { dragged } = scene;
  [scene.dragged, grabbed] = [null, null];
  if (event.type === "pointercancel") return scene.redraw("marks");
  if (dragged) return send({ do: "move", node: dragged.node, at: dragged.at });
  if (moved >= 4) return;
  if (tool !== "look" && editable()) return act(pixelOf(event));
  const site = siteAt(at, event.pointerType === "touch" ? 14 : 6);
  choose(editable() && site && !site.tour ? site : null);
  scene.chosen = site?.tour?.number && scene.chosen !== site.tour ? site.tour : null;
  scene.redraw();
}

const KEYS = {
  "+": (view) => view.zoom(1.4), "=": (view) => view.zoom(1.4), "-": (view) => view.zoom(1 / 1.4),
  0: (view) => view.fit(), Home: (view) => view.fit(),
  ArrowLeft: (view) => view.pan(60, 0), ArrowRight: (view) => view.pan(-60, 0),
  ArrowUp: (view) => view.pan(0, 60), ArrowDown: (view) => view.pan(0, -60),
};

function keyOnMap(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (KEYS[event.key]) look(KEYS[event.key]);
  else if (event.key === "Enter" && tool === "zone" && scene.corners.length > 2 && scene.pointer) closeZone();
  else if (event.key === "Enter") act([scene.view.width / 2, scene.view.height / 2]);
  else if (event.key === "Delete" || event.key === "Backspace") deleteSelected();
  else if (event.key === " " && !byId("clock").hidden) clock.toggle();
  else return;
  byId("read-out").textContent = readOut([scene.view.x, scene.view.y]);
  event.preventDefault();
}

function keyAnywhere(event) {
  if (event.key === "Escape") {
    useTool("look");
    choose(null);
  }
  const typing = /INPUT|SELECT|TEXTAREA/.test(event.target.tagName ?? "");
  if (typing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
  event.preventDefault();
  send({ do: event.shiftKey ? "redo" : "undo" });
}

async function upload(name, content) {
  const answer = await fetch(`/upload?name=${encodeURIComponent(name)}`, { method: "POST", body: content });
  const said = await answer.json().catch(() => ({ fault: `${name}: refused, ${answer.statusText}` }));
  byId("upload-note").textContent = said.note ?? "";
  refuse(said.fault ?? "");
}

const guessName = (text) => (/^\s*[{[]/.test(text) ? "pasted.geojson" : /^\s*</.test(text) ? "pasted.kml" : "pasted.csv");

function listenToFiles() {
  const stage = byId("stage");
  stage.addEventListener("dragover", (event) => event.preventDefault());
  stage.addEventListener("drop", (event) => {
    event.preventDefault();
    for (const file of event.dataTransfer.files) upload(file.name, file);
  });
  document.addEventListener("paste", (event) => {
    if (/INPUT|TEXTAREA/.test(event.target.tagName ?? "") || !editable()) return;
    const [file] = event.clipboardData.files;
    const text = event.clipboardData.getData("text/plain");
    if (file) upload(file.name, file);
    else if (text) upload(guessName(text), text);
  });
  byId("upload").addEventListener("change", ({ target }) => {
    for (const file of target.files) upload(file.name, file);
    target.value = "";
  });
}

function listenToMap() {
  surface.addEventListener("pointerdown", pointerDown);
  surface.addEventListener("pointermove", pointerMove);
  surface.addEventListener("pointerup", pointerUp);
  surface.addEventListener("pointercancel", pointerUp);
  surface.addEventListener("pointerleave", () => (byId("tip").hidden = true));
  surface.addEventListener("dblclick", (event) => {
    if (tool === "zone") closeZone();
    else if (tool === "look") look((view) => view.zoom(2, ...pixelOf(event)));
  });
  surface.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
    look((view) => view.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)), ...pixelOf(event)));
  }, { passive: false });
  surface.addEventListener("keydown", keyOnMap);
  for (const type of ["focus", "blur"]) surface.addEventListener(type, () => scene.redraw("marks"));
  addEventListener("keydown", keyAnywhere);
  for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => useTool(button.dataset.tool));
  clicked("delete", deleteSelected);
  clicked("undo", () => send({ do: "undo" }));
  clicked("redo", () => send({ do: "redo" }));
  clicked("zoom-in", () => look((view) => view.zoom(1.6)));
  clicked("zoom-out", () => look((view) => view.zoom(1 / 1.6)));
  clicked("reset", () => look((view) => view.fit()));
}
