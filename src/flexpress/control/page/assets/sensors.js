// Server, sensors and zones as a list beside the map: what the mouse does, done with numbers.

const AT_A_TIME = 25;
let firstShown = 0;

function nodesShown() {
  const { names, ids, places, server_place } = topics.document;
  const wanted = byId("find-sensor").value.trim().toLowerCase();
  const nodes = places.map((place, i) => ({ node: i + 1, name: names[i], id: ids[i], place }));
  const found = wanted ? nodes.filter((each) => `${each.name} ${each.id}`.toLowerCase().includes(wanted)) : nodes;
  const server = server_place && !wanted ? [{ node: 0, name: "Server", place: server_place }] : [];
  return [...server, ...found];
}

function showSensors() {
  const { geographic, places, zones, zone_names } = topics.document;
  byId("sensor-count").textContent = places.length.toLocaleString("en");
  [byId("first-axis").textContent, byId("second-axis").textContent] = geographic ? ["latitude", "longitude"] : ["x [m]", "y [m]"];
  const nodes = nodesShown();
  firstShown = within(0, firstShown, Math.max(nodes.length - 1, 0));
  byId("sensors-before").disabled = firstShown === 0;
  byId("sensors-after").disabled = firstShown + AT_A_TIME >= nodes.length;
  fillRows(byId("sensors").tBodies[0], nodes.slice(firstShown, firstShown + AT_A_TIME), (entry) => entry, sensorRow);
  byId("zones").hidden = !zones.length;
  fillRows(byId("zones").tBodies[0], zones.map((corners, z) => ({ z, name: zone_names[z], corners: corners.length })), (entry) => entry, zoneRow);
}

function sensorRow({ node, name, place }) {
  const pair = [...place];
  const cell = (axis) => {
    const change = ({ target }) => {
      const value = Number(target.value);
      if (!target.value.trim() || !Number.isFinite(value)) return refuse(`${target.value}: must be a number`);
      pair[axis] = value;
      send({ do: "move", node, at: pair, plane: false });
    };
    const what = `${byId(axis ? "second-axis" : "first-axis").textContent} of ${name}`;
    return make("td", {}, make("input", { value: String(place[axis]), inputmode: "decimal", "aria-label": what, change, focus: () => choose({ node }) }));
  };
  const remove = () => send({ do: "delete", nodes: [node] });
  return make("tr", { "data-node": node }, make("th", { scope: "row" }, name), cell(0), cell(1),
    make("td", {}, make("button", { click: remove, "aria-label": `Delete ${name}` }, "Delete")));
}

function zoneRow({ z, name, corners }) {
  const title = name || `zone ${z + 1}`;
  const remove = () => send({ do: "deletezone", number: z });
  return make("tr", {}, make("th", { scope: "row" }, title), make("td", {}, `${corners} corners`),
    make("td", {}, make("button", { click: remove, "aria-label": `Delete ${title}`, focus: () => choose({ zone: z }) }, "Delete")));
}

function listenToSensors() {
  const turn = (by) => () => {
    firstShown += by;
    showSensors();
  };
  clicked("sensors-before", turn(-AT_A_TIME));
  clicked("sensors-after", turn(AT_A_TIME));
  byId("find-sensor").addEventListener("input", () => {
    firstShown = 0;
    showSensors();
  });
}
