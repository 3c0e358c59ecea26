// The Field tab: where couriers are and how old the news of clients are; decisions are asked twice.

const HOW_TO_ATTACH = "No mission is attached. Start with the operator's kit: flexpress control KITS/operator";

on("field", (field) => {
  const { attached, connected, fault, status, pending, done } = field;
  byId("field-state").textContent = !attached ? HOW_TO_ATTACH : connected ? done || (status.over ? "The mission is over." : "Watching the server.") : fault ?? "Asking the server…";
  byId("field-state").classList.toggle("fault", attached && connected === false);
  byId("field-state").dataset.state = !attached ? "none" : connected ? (status.over ? "over" : "live") : "lost";
  if (status) showStatus(status, field.curve);
  askAgain(pending);
});

function showStatus(status, curve) {
  const accuracy = status.accuracy === null ? "–" : `${(100 * status.accuracy).toFixed(1)} %`;
  const facts = [["slot", `${status.slot} of ${status.horizon}`], ["version of the model", String(status.version)], ["accuracy", accuracy], ["refused updates", String(status.refused)], ["clock", status.clock], ["mission", status.run.slice(0, 8)]];
  byId("field-facts").replaceChildren(...pairs(facts));
  drawChart(byId("field-curve"), [{ points: curve, colour: "var(--accent)" }], { x: (slot) => `slot ${slot}`, y: (value) => `${(100 * value).toFixed(0)} %`, label: `Accuracy: ${accuracy}` });
  fillRows(byId("courier-rows"), status.couriers, (row) => row, courierRow);
  showClients();
}

function courierRow({ name, state, round = -1, tour = null, version = null }) {
  const cell = (value) => make("td", {}, value === null || value < 0 ? "" : String(value));
  const buttons = [];
  if (state === "out") buttons.push(make("button", { click: () => ask("void", String(tour)), "aria-label": `Void tour ${tour} of ${name}` }, "Void…"));
  if (state !== "revoked") buttons.push(make("button", { click: () => ask("revoke", name), "aria-label": `Revoke ${name}` }, "Revoke…"));
  return make("tr", { "data-courier": name }, make("th", { scope: "row" }, name), make("td", {}, state), cell(round), cell(tour), cell(version), make("td", {}, ...buttons));
}

// Ages grow while nothing comes, so they are written every second.
function showClients() {
  const status = topics.field?.status;
  if (!status) return;
  const age = ({ seen = null }) => (seen === null ? Infinity : Math.max(0, Date.now() / 1000 - seen));
  const rows = [...status.clients].sort((a, b) => age(b) - age(a)).map((client) => ({ ...client, age: ageText(age(client)) }));
  fillRows(byId("client-rows"), rows, (row) => row, clientRow);
}

const ageText = (seconds) => (seconds === Infinity ? "never" : seconds < 120 ? `${Math.floor(seconds)} s` : `${Math.floor(seconds / 60)} min`);

function clientRow({ name, courier = null, updates, age, revoked }) {
  const revoke = make("button", { click: () => ask("revoke", name), "aria-label": `Revoke ${name}` }, "Revoke…");
  return make("tr", { "data-client": name }, make("th", { scope: "row" }, name), make("td", {}, courier ?? ""), make("td", {}, String(updates)), make("td", {}, age), make("td", {}, revoked ? "revoked" : revoke));
}

const dialog = byId("confirm");
let asked = null; // the first question: { action, what }

// The first time: the page asks. The second time: the server does, with what will happen.
function ask(action, what) {
  asked = { action, what };
  byId("confirm-title").textContent = action === "void" ? `Void tour ${what}?` : `Revoke ${what}?`;
  byId("confirm-text").textContent = "You will be asked once more.";
  byId("confirm-second").hidden = true;
  byId("confirm-yes").disabled = false;
  dialog.showModal();
}

function askAgain(pending) {
  if (!pending) return void (asked || (dialog.open && dialog.close()));
  asked = null;
  byId("confirm-title").textContent = pending.action === "void" ? `Really void tour ${pending.what}?` : `Really revoke ${pending.what}?`;
  byId("confirm-text").textContent = pending.text;
  byId("confirm-word").textContent = pending.what;
  if (byId("confirm-second").hidden) byId("confirm-typed").value = "";
  byId("confirm-second").hidden = false;
  byId("confirm-yes").disabled = byId("confirm-typed").value !== pending.what;
  if (!dialog.open) dialog.showModal();
}

function listenToField() {
  byId("confirm-typed").addEventListener("input", () => (byId("confirm-yes").disabled = byId("confirm-typed").value !== topics.field.pending?.what));
  clicked("confirm-yes", () => {
    if (asked) send({ do: "decide", ...asked });
    else send({ do: "confirm", code: topics.field.pending.code });
  });
  const withdraw = () => {
    asked = null;
    dialog.close();
    if (topics.field.pending) send({ do: "withdraw" });
  };
  clicked("confirm-no", withdraw);
  dialog.addEventListener("cancel", withdraw);
  setInterval(showClients, 1000);
}
