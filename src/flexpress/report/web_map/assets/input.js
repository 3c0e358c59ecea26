// Hands: mouse, fingers, keys.

const fingers = new Map(); // pointers that are down, by id
let moved = 0; // pixels since the first came down

const pixel = (event) => {
  const { left, top } = surface.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
};

function probe(event) {
  const at = pixel(event);
  const thing = thingAt(app, at, event.pointerType === "touch" ? 14 : 6);
  surface.classList.toggle("pointing", Boolean(thing));
  if (thing) app.show(thing, at);
  else app.hide();
  return thing;
}

// Drag with one finger; with two, what is below each stays below it.
function drag(event) {
  const before = fingers.get(event.pointerId);
  const now = pixel(event);
  moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
  if (moved < 4) return;
  surface.classList.add("dragging");
  app.hide();
  const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
  fingers.set(event.pointerId, now);
  look((view) => {
    if (!other) return view.pan(now[0] - before[0], now[1] - before[1]);
    const apart = (point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
    view.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    view.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
  });
}

surface.addEventListener("pointerdown", (event) => {
  if (event.button) return; // the first button, or a finger
  if (!fingers.size) moved = 0;
  fingers.set(event.pointerId, pixel(event));
  surface.setPointerCapture(event.pointerId);
});
surface.addEventListener("pointermove", (event) => {
  if (fingers.has(event.pointerId)) drag(event);
  else probe(event);
});
for (const type of ["pointerup", "pointercancel"])
  surface.addEventListener(type, (event) => {
    if (!fingers.delete(event.pointerId)) return;
    surface.classList.remove("dragging");
    if (moved < 4 && type === "pointerup") app.choose(probe(event)?.tour ?? null);
  });
surface.addEventListener("pointerleave", (event) => {
  if (event.pointerType !== "touch") app.hide();
});
surface.addEventListener("wheel", (event) => {
  event.preventDefault();
  const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
  look((view) => view.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)), ...pixel(event)));
}, { passive: false });
surface.addEventListener("dblclick", (event) => look((view) => view.zoom(2, ...pixel(event))));

const KEYS = {
  "+": (view) => view.zoom(1.4),
  "=": (view) => view.zoom(1.4),
  "-": (view) => view.zoom(1 / 1.4),
  0: (view) => view.fit(),
  Home: (view) => view.fit(),
  ArrowLeft: (view) => view.pan(60, 0),
  ArrowRight: (view) => view.pan(-60, 0),
  ArrowUp: (view) => view.pan(0, 60),
  ArrowDown: (view) => view.pan(0, -60),
};
surface.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " ") clock.toggle();
  else if (KEYS[event.key]) look(KEYS[event.key]);
  else return;
  event.preventDefault();
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  app.hide();
  app.choose(null);
});
byId("zoom-in").addEventListener("click", () => look((view) => view.zoom(1.6)));
byId("zoom-out").addEventListener("click", () => look((view) => view.zoom(1 / 1.6)));
byId("reset").addEventListener("click", () => look((view) => view.fit()));
