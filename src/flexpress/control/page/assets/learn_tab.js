// The Learn tab: simulations, their curves as they grow, and the drones that carry the models.

const CURVES = ["#1d5fa8", "#b3541e", "#2c7a3f", "#7a4ba0", "#8a6d00", "#a02860"];
const CURVES_DARK = ["#8fc1f7", "#f0a878", "#8fd69a", "#cba6ec", "#e2c75c", "#f29bbd"];
const curveColour = (number) => (dark.matches ? CURVES_DARK : CURVES)[number % CURVES.length];

let shownRun = ""; // folder
let runMap = null; // { name, map }
let flight = 0; // the frame that is asked for
const runFolders = () => topics.runs?.folders ?? {};

const WORDS = { running: "under way", pausing: "pausing…", paused: "paused", complete: "complete", diverged: "diverged", failed: "failed" };

on("runs", ({ running }) => {
  const folders = runFolders();
  if (running && running !== shownRun) shownRun = running;
  if (!folders[shownRun]) shownRun = Object.keys(folders).at(-1) ?? "";
  byId("pause").disabled = !running || folders[running]?.state === "pausing";
  byId("simulate").disabled = Boolean(running);
  const run = folders[shownRun];
  byId("learn-state").textContent = run ? `${shownRun}: ${run.note || WORDS[run.state]}${run.state === "running" && run.now ? `, ${run.now}, slot ${run.runs[run.now].slot} of ${run.runs[run.now].horizon}` : ""}` : "";
  byId("learn-state").dataset.state = run?.state ?? "";
  showCurves();
  showRuns(running);
  if (!byId("learn-panel").hidden) showFlight();
});

on("plans", () => {
  const list = plansList().filter((plan) => !plan.fault).map((plan) => new Option(plan.name, plan.name)).reverse();
  const before = byId("learn-plan").value;
  byId("learn-plan").replaceChildren(...list, new Option("a new one, of the draft", ""));
  if (list.some((option) => option.value === before)) byId("learn-plan").value = before;
});

function showCurves() {
  const runs = Object.entries(runFolders()[shownRun]?.runs ?? {});
  const series = runs.map(([name, { points }], r) => ({ name, points: [...points].sort((a, b) => a[0] - b[0]), colour: curveColour(r) }));
  const last = series.filter(({ points }) => points.length).map(({ name, points }) => `${name} ${(100 * points.at(-1)[1]).toFixed(1)} %`);
  drawChart(byId("learn-curve"), series, { x: (slot) => `slot ${Math.round(slot)}`, y: (value) => `${(100 * value).toFixed(0)} %`, label: `Accuracy: ${last.join(", ")}` });
  byId("curve-key").replaceChildren(...series.map(({ name, colour, points }) => {
    const sign = make("i", { class: "swatch" });
    sign.style.background = colour;
    return make("li", {}, sign, `${name}${points.length ? `: ${(100 * points.at(-1)[1]).toFixed(1)} %` : ""}`);
  }));
}

function showRuns(running) {
  const rows = Object.entries(runFolders()).reverse().map(([name, run]) => {
    const slots = Object.values(run.runs).map((each) => each.slot);
    return { name, state: run.state, report: run.report, running, shown: name === shownRun, slot: slots.length ? Math.min(...slots) : 0 };
  });
  fillRows(byId("run-rows"), rows, (row) => row, runRow);
}

function runRow({ name, state, report, running, shown, slot }) {
  const show = () => {
    shownRun = name;
    for (const act of watchers.runs) act(topics.runs);
  };
  const buttons = [make("button", { click: show, "aria-pressed": String(shown) }, "Show")];
  if (state === "paused") buttons.push(make("button", { click: () => send({ do: "goon", run: name }), disabled: Boolean(running) }, "Go on"));
  if (state !== "running" && state !== "pausing") {
    const link = make("a", { href: report ?? "", target: "_blank", rel: "noopener" }, "Report");
    buttons.push(report ? link : make("button", { click: () => send({ do: "report", run: name }), disabled: Boolean(running) }, "Write report"));
  }
  return make("tr", { "data-run": name }, make("th", { scope: "row" }, name), make("td", {}, WORDS[state] ?? state), make("td", {}, String(slot)), make("td", {}, ...buttons));
}

// The plan of the shown run, with its drones under way.
async function showFlight() {
  const name = shownRun;
  const begun = Object.keys(runFolders()[name]?.runs ?? {}).length; // before that it may have no plan
  if (begun && runMap?.name !== name) {
    runMap = { name, map: null };
    const answer = await fetch(`/run/${encodeURIComponent(name)}/map.json`);
    if (answer.status === 200) runMap = { name, map: await answer.json() };
    else runMap = null; // its plan is not made yet
  }
  if (byId("learn-panel").hidden) return;
  if (!runMap?.map) return runMap || !topics.document || scene.show(topics.document, null, {});
  if (scene.flown !== runMap.map) {
    scene.flown = runMap.map;
    [scene.marked, scene.overdrawn, scene.other] = [[], [], []];
    scene.show(runMap.map, runMap.map, { fit: true });
    byId("clock").hidden = true;
  }
  if (!flight) flight = requestAnimationFrame(fly);
}

// While a run is under way its drones fly: all together, or with async each at its own pace.
function fly(now) {
  flight = 0;
  const run = runFolders()[shownRun];
  if (byId("learn-panel").hidden || run?.state !== "running" || !scene.flown) return;
  const longest = Math.max(...scene.flown.transporters.map((tour) => tour.round_trip));
  const seconds = (now / 6000) * longest; // a round in six seconds: the run itself is faster than the eye
  const apart = run.now?.startsWith("async");
  scene.timeOf = (tour) => (tour.number ? seconds % (apart ? tour.round_trip || 1 : longest) : 0);
  scene.redraw("clients", "drones");
  flight = requestAnimationFrame(fly);
}

function listenToLearn() {
  clicked("simulate", () => {
    const algorithms = [...document.querySelectorAll("[name=algorithm]:checked")].map((box) => box.value);
    const wish = { do: "simulate", plan: byId("learn-plan").value, algorithms, every: byId("every").checked };
    const [horizon, start] = [typed(byId("horizon").value), typed(byId("head-start").value)];
    send({ ...wish, ...(horizon === null ? {} : { horizon }), ...(start === null ? {} : { head_start: start }) });
  });
  clicked("pause", () => send({ do: "pause" }));
}
