// The forms: every field is a key of the scenario's file, and its fault stands beside it.

const LINK_FORMS = {
  constant: ["transfer_time"],
  rate: ["rate", "model_size"],
  shannon: ["bandwidth", "transmit_power", "channel_gain", "noise", "model_size"],
};
const EXAMPLES = {
  "link.transfer_time": "10 s", "link.rate": "50 Mbit/s", "link.model_size": "100 MB", "link.bandwidth": "50 MHz",
  "link.altitude": "120 m", "link.transmit_power": "20 dBm", "link.channel_gain": "-50 dB", "link.noise": "-174 dBm/Hz",
  "power.flight": "30 W", "power.hover": "20 W", "power.transmit": "100 mW", "power.c1": "", "power.c2": "", ".slot": "1 min", ".seed": "0",
};
const CHOICES = {
  "plan.objective": { sws: "sws, for FedEx-Async", minmax: "minmax, for FedEx-Sync", total: "total: least flying" },
  "plan.round_trips": { seconds: "seconds", slots: "whole slots" },
  "plan.solver": { search: "search", carp: "carp (the paper's)", exact: "exact (15 sensors at most)" },
};

const valueOf = (table, key) => topics.document?.values[table]?.[key];

const setKey = (table, key, value) => send({ do: "set", values: { [table]: { [key]: value } } });

// A label, an input or a list of choices, and the place of its fault.
function field(table, key, name) {
  const path = table ? `${table}.${key}` : key;
  const id = `field-${table}-${key}`;
  const choices = CHOICES[`${table}.${key}`];
  const common = { id, "data-key": path, "data-table": table, "data-name": key, "aria-describedby": `fault-${id}` };
  const change = ({ target }) => setKey(table, key, choices ? target.value : typed(target.value));
  const input = choices
    ? make("select", { ...common, change }, ...Object.entries(choices).map(([value, text]) => new Option(text, value)))
    : make("input", { ...common, change, placeholder: EXAMPLES[`${table}.${key}`] ?? "", size: 14 });
  return [make("label", { for: id }, name), input, make("p", { class: "fault", id: `fault-${id}`, "data-fault": path })];
}

const spaced = (key) => key.replaceAll("_", " ");

function buildForms() {
  const power = ["flight", "hover", "transmit", "c1", "c2"].flatMap((key) => field("power", key, `${spaced(key)} power`.replace(/c(\d) power/, "c$1")));
  byId("power-fields").append(...power, ...field("", "slot", "slot"), ...field("network", "no_fly_margin", "margin of zones"));
  byId("plan-fields").append(...["objective", "round_trips", "solver"].flatMap((key) => field("plan", key, spaced(key))), ...field("", "seed", "seed"), ...field("", "name", "name"));
  byId("link-form").addEventListener("change", ({ target }) => changeLink(target.value));
  clicked("add-drone", () => setFleet([...drones(), { ...drones().at(-1) }]));
}

// The form that the draft's link has; the altitude belongs to all of them.
function linkForm() {
  const given = Object.keys(topics.document.values.link ?? {});
  return Object.keys(LINK_FORMS).find((form) => given.includes(LINK_FORMS[form][0])) ?? "constant";
}

function showLink() {
  const form = linkForm();
  if (byId("link-fields").dataset.form !== form) {
    byId("link-fields").dataset.form = form;
    const keys = [...LINK_FORMS[form], "altitude"];
    byId("link-fields").replaceChildren(...keys.flatMap((key) => field("link", key, spaced(key))));
  }
  byId("link-form").value = form;
}

// Another form: its keys with usual values, and without those of the others.
function changeLink(form) {
  const others = Object.values(LINK_FORMS).flat().filter((key) => !LINK_FORMS[form].includes(key));
  const values = Object.fromEntries(others.map((key) => [key, null]));
  for (const key of LINK_FORMS[form]) values[key] = valueOf("link", key) ?? EXAMPLES[`link.${key}`];
  if (form === "shannon") values.altitude = valueOf("link", "altitude") ?? EXAMPLES["link.altitude"];
  send({ do: "set", values: { link: values } });
}

function drones() {
  const { speeds = [], budgets = [] } = topics.document?.values.fleet ?? {};
  return Array.from(Array.isArray(speeds) ? speeds : [], (speed, k) => ({ speed, budget: budgets?.[k] ?? "" }));
}

// Budgets are left out if all are blank.
function setFleet(rows) {
  const budgets = rows.every((row) => row.budget === "" || row.budget === null) ? null : rows.map((row) => row.budget ?? "");
  send({ do: "set", values: { fleet: { speeds: rows.map((row) => row.speed), budgets } } });
}

function showFleet() {
  const rows = drones().map((row, k) => ({ ...row, k, alone: drones().length === 1 }));
  fillRows(byId("fleet").tBodies[0], rows, (row) => row, droneRow);
}

function droneRow({ speed, budget, k, alone }) {
  const cell = (key, value, name, example) => {
    const path = `fleet.${key}s[${k}]`;
    const change = ({ target }) => setFleet(drones().map((row, r) => (r === k ? { ...row, [key]: typed(target.value) ?? "" } : row)));
    const described = { "data-key": path, "aria-describedby": `fault-${path}`, "aria-label": `${name} of drone ${k + 1}` };
    const input = make("input", { ...described, value: shownValue(value), placeholder: example, change });
    return make("td", {}, input, make("p", { class: "fault", id: `fault-${path}`, "data-fault": path }));
  };
  const remove = () => setFleet(drones().filter((_, r) => r !== k));
  return make("tr", {}, make("th", { scope: "row" }, String(k + 1)), cell("speed", speed, "Speed", "10 m/s"), cell("budget", budget, "Budget", "unlimited"),
    make("td", {}, make("button", { click: remove, disabled: alone, "aria-label": `Remove drone ${k + 1}` }, "Remove")));
}

// Values as they are written, except in the field that is being typed in.
function showFields() {
  showLink();
  showFleet();
  for (const input of document.querySelectorAll("[data-table]")) {
    if (input === document.activeElement && input.tagName === "INPUT") continue;
    const value = valueOf(input.dataset.table, input.dataset.name);
    input.value = input.tagName === "SELECT" ? value ?? input.options[0].value : shownValue(value);
  }
}

// Each fault beside its field, else at its table, else above all.
function showFaults(faults) {
  for (const place of document.querySelectorAll("[data-fault]")) place.textContent = "";
  for (const input of document.querySelectorAll("[data-key]")) input.removeAttribute("aria-invalid");
  const homeless = [];
  for (const [key, text] of faults) {
    const place = placeOfFault(key);
    if (place) place.textContent += `${place.textContent ? " " : ""}${text}`;
    if (!place || ["network", "fleet", "link"].includes(place.dataset.fault) || place.closest("details:not([open])")) homeless.push(text);
    document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.setAttribute("aria-invalid", "true");
  }
  byId("faults").replaceChildren(...homeless.map((text) => make("p", { class: "fault" }, text)));
  byId("plan").disabled = faults.length > 0 || busy();
}

function placeOfFault(key) {
  for (let part = key; part; part = part.replace(/(\[\d+\]|\.?[^.[\]]+)$/, "")) {
    const place = document.querySelector(`[data-fault="${CSS.escape(part)}"]`);
    if (place) return place;
  }
  return null;
}
