// The Plan tab: the draft, the search as it goes on, plans to show, compare and export.

let drawnPlan = null; // the map of a stored plan that is shown: { name, map }
let compared = null; // the other one
let openings = -1; // of the draft, when all of it was shown
let clock = null;

const busy = () => ["planning", "proving", "diagnosing"].includes(topics.search?.state);

// The plan that the map shows: the search's own, unless a stored one was chosen.
function currentMap() {
  if (drawnPlan) return { map: drawnPlan.map, stale: !fits(drawnPlan.map) };
  const { search } = topics;
  return search?.map ? { map: search.map, stale: search.version !== topics.document.version } : { map: null, stale: false };
}

// Whether a stored plan is one of these sites.
function fits(map) {
  const near = ([a, b], [c, d]) => Math.hypot(a - c, b - d) < 0.05;
  const { server, clients } = topics.document;
  return server && near(server, map.server) && clients.length === map.clients.length && clients.every((place, i) => near(place, map.clients[i]));
}

function showMap(fit = false) {
  if (!topics.document || byId("learn-panel").hidden === false) return;
  const opened = topics.document.openings !== openings;
  openings = topics.document.openings;
  const { map, stale } = currentMap();
  scene.other = compared && fits(compared.map) ? toursOf(compared.map) : [];
  const { state, version, out_of_reach = [], overdrawn = [] } = topics.search ?? {};
  const binding = version === topics.document.version && ["diagnosing", "infeasible"].includes(state);
  [scene.marked, scene.overdrawn] = binding ? [out_of_reach, overdrawn] : [[], []];
  scene.timeOf = () => scene.time;
  scene.show(topics.document, map, { stale, fit: fit || opened });
  showTable(map && !stale ? map : null);
  coverClock(map && !stale ? Math.max(...map.transporters.map((tour) => tour.round_trip)) : 0);
  showHint();
}

function coverClock(longest) {
  byId("clock").hidden = !longest;
  if (clock.longest === longest) return clock.set(Math.min(scene.time, longest));
  if (clock.running) clock.pause();
  clock.cover(longest || 1);
}

// Figures of every transporter, as `flexpress plan` prints them.
function showTable(map) {
  byId("table").hidden = !map;
  if (!map) return;
  byId("columns").replaceChildren(...map.columns.map(([name, unit]) => make("th", { scope: "col", "aria-label": name }, name === "transporter" ? "" : name, make("small", {}, unit || "\u00a0"))));
  byId("rows").replaceChildren(...scene.tours.filter((tour) => tour.number).map((tour) => {
    const [number, ...cells] = tour.cells;
    const choose = () => {
      scene.chosen = scene.chosen === tour ? null : tour;
      scene.redraw();
    };
    const button = make("button", { "aria-label": `Transporter ${number}: show its tour alone` }, swatch(tour), number);
    return make("tr", { click: choose, class: tour.clients.length ? "" : "idle", "data-transporter": number }, make("th", { scope: "row" }, button), ...cells.map((text) => make("td", {}, text)));
  }));
}

on("document", (draft) => {
  byId("undo").disabled = !draft.undo;
  byId("redo").disabled = !draft.redo;
  byId("file-name").textContent = `${draft.file || "not saved as a file"}${draft.file && !draft.saved ? " (changed)" : ""}`;
  if (document.activeElement !== byId("save-name")) byId("save-name").value = draft.file || "";
  if (scene.selected?.node > draft.clients.length || scene.selected?.zone >= draft.zones.length) choose(null);
  showFields();
  showFaults(draft.faults);
  showSensors();
  showMap();
});

on("files", ({ scenarios, presets }) => {
  byId("scenarios").replaceChildren(...scenarios.map((name) => new Option(name)));
  byId("open-file").disabled = !scenarios.length;
  byId("presets").replaceChildren(...presets.map((name) => new Option(name)));
});

on("settings", ({ tiles, formats }) => {
  byId("formats").replaceChildren(...formats.map((name) => new Option(name)));
  byId("background").hidden = !tiles;
});

const STATES = {
  idle: () => "",
  planning: ({ cost, note }) => (cost ? `Searching: ${cost}` : `Searching… ${note ?? ""}`),
  proving: ({ gap, note }) => (gap ? `Proving: at most ${gap} above the optimum` : `Proving… ${note ?? ""}`),
  done: ({ plan, cost, gap, message }) => message ?? (gap ? `${cost}; proven: at most ${gap} above the optimum` : `${cost}: kept in flexpress-out/${plan}`),
  diagnosing: ({ message }) => `${message}. Looking for remedies…`,
  infeasible: ({ message }) => message,
  failed: ({ message }) => message,
};

on("search", (search) => {
  const text = STATES[search.state](search);
  byId("search-state").textContent = text;
  byId("search-state").classList.toggle("fault", ["infeasible", "failed", "diagnosing"].includes(search.state));
  Object.assign(byId("search-state").dataset, { state: search.state, serial: search.serial ?? 0 });
  byId("stop").disabled = !busy();
  byId("plan").disabled = busy() || (topics.document?.faults.length ?? 1) > 0;
  if (search.state === "planning") drawnPlan = null;
  showSearchCurve(search);
  showRemedies(search);
  showMap();
  choosePlans();
});

function showSearchCurve({ curve = [], bound, cost }) {
  const bounds = bound && curve.length ? [{ points: [[curve[0][0], bound], [curve.at(-1)[0], bound]], colour: "var(--muted)", dash: "4 4" }] : [];
  const texts = { x: (seconds) => `${seconds.toFixed(1)} s`, y: (value) => value.toPrecision(4).replace("e+", "e"), label: `The objective while the search goes on; now ${cost}` };
  drawChart(byId("search-curve"), [{ points: curve, colour: "var(--accent)" }, ...bounds], texts);
}

function showRemedies({ state, remedies = [] }) {
  const shown = state === "infeasible" ? remedies : [];
  byId("remedies").replaceChildren(...shown.map((remedy, number) => {
    const apply = () => send({ do: "remedy", number });
    const name = `Change the ${remedy.change}`;
    return make("div", { class: "row" }, make("button", { click: apply, disabled: !remedy.possible, "data-remedy": remedy.change }, name), make("span", {}, remedy.text));
  }));
}

on("plans", () => {
  choosePlans();
  showLastPlan();
});

// After a restart, and of the folder of a plan: the last plan, if it is one of these sites.
function showLastPlan() {
  const last = plansList().filter((plan) => !plan.fault).at(-1);
  const nothing = topics.search?.state === "idle" && !drawnPlan && topics.document;
  if (last && nothing && last.clients === topics.document.clients.length) fetchPlan(last.name, false);
}

const plansList = () => topics.plans ?? [];

function choosePlans() {
  byId("plans").hidden = !plansList().length;
  const shown = drawnPlan?.name ?? (topics.search?.map ? topics.search.plan : undefined);
  const rows = [...plansList()].reverse().map((plan) => ({ ...plan, shown: plan.name === shown, other: plan.name === compared?.name }));
  fillRows(byId("plan-rows"), rows, (row) => row, planRow);
  const chosen = plansList().find((plan) => plan.name === shown);
  byId("prove").disabled = !chosen || busy();
  byId("export").disabled = !chosen;
  byId("origin-label").hidden = !chosen || chosen.geographic;
  showComparison(chosen);
}

function planRow(plan) {
  if (plan.fault) return make("tr", {}, make("th", { scope: "row" }, plan.name), make("td", { colspan: 4, class: "fault" }, plan.fault));
  const pick = (name, checked, act) => make("td", {}, make("input", { type: name === "show" ? "radio" : "checkbox", name, checked, change: act, "aria-label": `${name} ${plan.name}` }));
  return make("tr", { "data-plan": plan.name }, make("th", { scope: "row" }, plan.name), make("td", {}, plan.cost), make("td", {}, plan.gap ?? "–"),
    pick("show", plan.shown, () => fetchPlan(plan.name, false)), pick("compare", plan.other, ({ target }) => (target.checked ? fetchPlan(plan.name, true) : compare(null))));
}

async function fetchPlan(name, other) {
  const answer = await fetch(`/plan/${encodeURIComponent(name)}/map.json`);
  const map = await answer.json();
  if (map.fault) return refuse(map.fault);
  if (other) return compare({ name, map });
  drawnPlan = { name, map };
  showMap();
  choosePlans();
}

function compare(plan) {
  compared = plan;
  showMap();
  choosePlans();
}

// The figures of two plans, and by how much the second differs.
function showComparison(chosen) {
  const other = plansList().find((plan) => plan.name === compared?.name);
  byId("comparison").replaceChildren();
  if (!chosen || !other) return;
  const figures = [["longest round trip", "longest", 1, "s"], ["all round trips", "total", 1, "s"], ["energy", "energy", 1000, "kJ"]];
  const rows = figures.map(([name, key, unit, sign]) => {
    const [a, b] = [chosen[key] / unit, other[key] / unit];
    return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, `${a.toFixed(1)} ${sign}`), make("td", {}, `${b.toFixed(1)} ${sign}`), make("td", {}, `${((100 * (b - a)) / a).toFixed(1)} %`));
  });
  const head = make("tr", {}, ...["", chosen.name, `${other.name} (dashed)`, "difference"].map((text) => make("th", { scope: "col" }, text)));
  byId("comparison").append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

async function exportPlan() {
  const name = drawnPlan?.name ?? topics.search.plan;
  const origin = byId("origin").value.trim();
  const query = origin && !byId("origin-label").hidden ? `?origin=${encodeURIComponent(origin.replace(/\s+/g, ""))}` : "";
  const answer = await fetch(`/plan/${encodeURIComponent(name)}/export/${byId("formats").value}${query}`);
  if (!answer.ok) return refuse(await answer.text());
  refuse("");
  byId("export-note").textContent = answer.headers.get("X-Notes") ?? "";
  const file = answer.headers.get("Content-Disposition").match(/filename="(.*)"/)[1];
  const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const secondsIn = (id) => {
  const seconds = typed(byId(id).value);
  return typeof seconds === "number" ? seconds : null;
};

function listenToPlan() {
  const fresh = (wish) => () => {
    [drawnPlan, compared] = [null, null];
    send(wish());
  };
  clicked("new", () => {
    try {
      const around = pairOf(byId("around").value);
      fresh(() => ({ do: "new", around }))();
    } catch (error) {
      refuse(error.message);
    }
  });
  clicked("open-preset", fresh(() => ({ do: "preset", name: byId("presets").value })));
  clicked("open-file", fresh(() => ({ do: "open", file: byId("scenarios").value })));
  clicked("save", () => send({ do: "save", file: byId("save-name").value.trim() || "mission.toml" }));
  clicked("plan", () => send({ do: "plan", seconds: secondsIn("plan-seconds") }));
  clicked("stop", () => send({ do: "stop" }));
  clicked("prove", () => send({ do: "prove", plan: drawnPlan?.name ?? topics.search.plan, seconds: secondsIn("prove-seconds") ?? 30 }));
  clicked("export", exportPlan);
  byId("show-tiles").addEventListener("change", () => scene.redraw("tiles"));
}
