// Begin: tabs, forms, the map and the socket.

const TABS = ["plan", "learn", "field"];

function openTab(name, focus = false) {
  for (const tab of TABS) {
    const chosen = tab === name;
    byId(`${tab}-panel`).hidden = !chosen;
    byId(`tab-${tab}`).setAttribute("aria-selected", chosen);
    byId(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
    if (chosen && focus) byId(`tab-${tab}`).focus();
  }
  history.replaceState(null, "", `#${name}`);
  byId("tools").hidden = name !== "plan";
  useTool("look");
  choose(null);
  scene.flown = null;
  if (name === "learn") showFlight();
  else showMap(true);
}

for (const tab of TABS) clicked(`tab-${tab}`, () => openTab(tab));
byId("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const now = TABS.findIndex((tab) => !byId(`${tab}-panel`).hidden);
  if (step) openTab(TABS[(now + step + TABS.length) % TABS.length], true);
});

buildForms();
listenToSensors();
listenToMap();
listenToFiles();
listenToPlan();
listenToLearn();
listenToField();
scene.drones = makeDrones(byId("drones"), scene);
clock = new Clock(1, (time) => {
  scene.time = time;
  scene.redraw("clients", "drones");
});
dark.addEventListener("change", () => {
  scene.colour();
  showMap();
});
new ResizeObserver(() => look((view) => view.resize(surface.clientWidth, surface.clientHeight))).observe(surface);
openTab(TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "plan");
scene.colour();
connect();
