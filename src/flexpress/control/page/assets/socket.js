// The socket: topics come, each with its whole value; wishes go. It comes back by itself.

const topics = {}; // the last value of each
const watchers = {}; // functions by topic

function on(topic, act) {
  (watchers[topic] ??= []).push(act);
}

const waiting = []; // wishes while there is no connection
let socket = null;

function send(wish) {
  refuse("");
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(wish));
  else waiting.push(wish);
}

function connect() {
  socket = new WebSocket(`ws://${location.host}/socket`);
  socket.addEventListener("open", () => {
    byId("link-state").textContent = "";
    for (const wish of waiting.splice(0)) send(wish);
  });
  socket.addEventListener("message", ({ data }) => {
    const { topic, value } = JSON.parse(data);
    topics[topic] = value;
    for (const act of watchers[topic] ?? []) act(value);
  });
  socket.addEventListener("close", () => {
    byId("link-state").textContent = "No connection: is flexpress control running? Open the address that it prints.";
    setTimeout(connect, 1000);
  });
}

on("refused", refuse);
